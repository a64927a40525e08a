// A thread sums all rows of a vector of columns, where there are so many columns that nothing is
// left to join: kernels for few rows, and for many. Columns that pairs do not hold are read again,
// as many at a time as a warp has lanes, and added to words (reduce/core/thread_words.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WHOLE_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WHOLE_COLUMNS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/columns/items.cuh"
#include "kernels/cuda/reduce/columns/pairs.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/thread_words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/sums/expansion_sum.h"

namespace gridfold::kernels::cuda {

// Columns of so many rows, which are summed without words.
inline constexpr uint32_t kRowsOfExpansions = 4;

// All rows of the thread's columns, kShallowRowsInFlight at a time, or those up to where pairs do
// not hold them.
template <class T, bool kInVectors>
__device__ inline ColumnPairs<T> SumFewRows(const ColumnRows<T, kInVectors>& column_rows,
                                            uint64_t rows) {
  constexpr uint32_t kRows = PairTuning::kShallowRowsInFlight;
  ColumnPairs<T> sums;
#pragma unroll 1
  for (uint64_t row = 0; row < rows; row += kRows) {
    uint4 raw[kRows];
    column_rows.Load(row, 1, rows - row, raw);
    if (!sums.Add(raw, rows, rows)) break;
  }
  return sums;
}

// All rows of the thread's columns, each loaded while the rows before it are added.
template <class T, bool kInVectors>
__device__ inline ColumnPairs<T> SumManyRows(const ColumnRows<T, kInVectors>& column_rows,
                                             uint32_t rows) {
  constexpr uint32_t kRows = ColumnSumRowsInFlight(sizeof(T));
  ColumnPairs<T> sums;
  uint4 ahead[kRows];
  column_rows.Load(0, 1, rows, ahead);
#pragma unroll 1
  for (uint32_t row = 0; row < rows;) {
    uint4 raw[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) raw[r] = ahead[r];
    row += kRows;
    if (row < rows) column_rows.Load(row, 1, rows - row, ahead);
    if (!sums.Add(raw, rows, rows)) break;
  }
  return sums;
}

// Sums a warp's tile of columns whatever their elements are, each column by a lane. Not inlined: it
// is long and seldom needed.
template <class T, uint32_t kInFlight>
__device__ __noinline__ void SumTileInWords(const ReductionParameters& parameters,
                                            uint64_t first_column, uint32_t tile_columns) {
  const uint64_t pitch = parameters.row_pitch;
  const uint64_t rows = parameters.group_size;
  const uint64_t end = min(first_column + tile_columns, parameters.group_count);
  double* const only_sums = OnlySums(parameters);
#pragma unroll 1
  for (uint64_t column = first_column + threadIdx.x % ReduceTuning::kWarpThreads; column < end;
       column += ReduceTuning::kWarpThreads) {
    const T* const first =
        static_cast<const T*>(parameters.elements) + parameters.FirstOfColumn(column);
    if (rows <= kRowsOfExpansions && only_sums != nullptr) {
      float values[kRowsOfExpansions];
#pragma unroll
      for (uint32_t r = 0; r < kRowsOfExpansions; ++r) {
        values[r] = r < rows ? ToCompute(first[r * pitch]) : -0.0f;
      }
      only_sums[column] = Answered(RoundedSum(values));
    } else {
      SumThreadInWords<T, kInFlight>(parameters, column, first, pitch, rows);
    }
  }
}

// Writes what is asked for of the thread's columns of a tile, whose sums are exact.
template <class T>
__device__ inline void FinishColumns(const ReductionParameters& parameters,
                                     const ColumnLanes<T>& lanes, uint64_t first_column,
                                     const ColumnPairs<T>& sums) {
  const uint64_t rows = parameters.group_size;
  if (lanes.in_vectors) {
    const uint64_t column = first_column + lanes.Column(0);
    if (column < parameters.group_count) FinishColumnVector<T>(parameters, column, sums);
    return;
  }
#pragma unroll
  for (uint32_t k = 0; k < ColumnPairs<T>::kSize; ++k) {
    const uint64_t column = first_column + lanes.Column(k);
    if (column < parameters.group_count) FinishPair<T>(parameters, column, rows, sums.pairs[k]);
  }
}

// Tiles from `tile` on, every step-th, up to the first that pairs do not hold, which is returned;
// else one behind the last. Each thread takes all rows of its columns: sum_rows(ColumnRows) adds
// them up.
template <class T, class SumRows>
__device__ inline uint64_t SumTilesInPairs(const ReductionParameters& parameters,
                                           const ColumnWork& work, uint64_t tile, uint64_t step,
                                           SumRows sum_rows) {
  const ColumnLanes<T> lanes(parameters, threadIdx.x % ReduceTuning::kWarpThreads,
                             work.tile_columns_log2);
  const uint64_t rows = parameters.group_size;
#pragma unroll 1
  for (; tile < work.tile_count; tile += step) {
    const uint64_t first_column = tile << work.tile_columns_log2;
    ColumnPairs<T> sums = lanes.in_vectors
                              ? sum_rows(ColumnRows<T, true>(parameters, lanes, first_column, 0))
                              : sum_rows(ColumnRows<T, false>(parameters, lanes, first_column, 0));
    if (!__all_sync(~0u, PairHolds(SpanBits<T>(sums.range), rows, rows))) return tile;
    sums.Close();
    FinishColumns(parameters, lanes, first_column, sums);
  }
  return tile;
}

// All tiles. Those that pairs do not hold are summed outside of the loop over tiles: registers that
// calls keep are few.
template <class T, uint32_t kInFlight, class SumRows>
__device__ inline void SumWholeColumns(const ReductionParameters& parameters,
                                       const ColumnWork& work, SumRows sum_rows) {
  const WarpTiles tiles;
  uint64_t tile = tiles.first;
#pragma unroll 1
  for (;;) {
    tile = SumTilesInPairs<T>(parameters, work, tile, tiles.step, sum_rows);
    if (tile >= work.tile_count) return;
    SumTileInWords<T, kInFlight>(parameters, tile << work.tile_columns_log2,
                                 1u << work.tile_columns_log2);
    tile += tiles.step;
  }
}

template <class T>
__global__ void __launch_bounds__(PairTuning::kThreads, PairTuning::kShallowResidentBlocks)
    ReduceShallowColumnSums(const __grid_constant__ ReductionParameters parameters,
                            const __grid_constant__ ColumnWork work) {
  constexpr uint32_t kInFlight = PairTuning::kShallowWordLoadsInFlight;
  SumWholeColumns<T, kInFlight>(parameters, work, [&](const auto& column_rows) {
    return SumFewRows(column_rows, parameters.group_size);
  });
}

template <class T>
__global__ void __launch_bounds__(PairTuning::kWholeColumnThreads,
                                  PairTuning::kWholeColumnResidentBlocks)
    ReduceWholeColumnSums(const __grid_constant__ ReductionParameters parameters,
                          const __grid_constant__ ColumnWork work) {
  constexpr uint32_t kInFlight = PairTuning::kWordLoadsInFlight;
  SumWholeColumns<T, kInFlight>(parameters, work, [&](const auto& column_rows) {
    return SumManyRows(column_rows, static_cast<uint32_t>(parameters.group_size));
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WHOLE_COLUMNS_CUH_
