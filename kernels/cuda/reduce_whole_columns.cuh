// Sums along axis 0 of so many columns that a thread takes all rows of a vector of them, and
// nothing is left to join: kernels for few rows, and for many.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_WHOLE_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_WHOLE_COLUMNS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_column_pairs.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// All rows of the thread's columns, kShallowRowsInFlight at a time.
template <class T, bool kInVectors>
__device__ inline ColumnPairs<T> SumFewRows(const ColumnRows<T, kInVectors>& column_rows,
                                            uint64_t rows) {
  constexpr uint32_t kRows = PairTuning::kShallowRowsInFlight;
  ColumnPairs<T> sums;
#pragma unroll 1
  for (uint64_t row = 0; row < rows; row += kRows) {
    uint4 raw[kRows];
    column_rows.Load(row, 1, rows - row, raw);
    sums.Add(raw);
  }
  return sums;
}

// The same of rows that are loaded while those before them are added.
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
    sums.Add(raw);
  }
  return sums;
}

// Writes what is asked for of the thread's columns of a tile, of which it has added up all rows.
template <class T>
__device__ inline void FinishColumns(const ReductionParameters& parameters,
                                     const ColumnLanes<T>& lanes, uint64_t first_column,
                                     const ColumnPairs<T>& sums) {
  const uint64_t rows = parameters.group_size;
  const bool holds = PairHolds(SpanBits(sums.range), rows, rows);
  if (lanes.in_vectors && holds) {
    const uint64_t column = first_column + lanes.Column(0);
    if (column < parameters.group_count) FinishColumnVector(parameters, column, sums);
    return;
  }
#pragma unroll
  for (uint32_t k = 0; k < ColumnPairs<T>::kSize; ++k) {
    const uint64_t column = first_column + lanes.Column(k);
    if (column >= parameters.group_count) continue;
    if (holds) {
      FinishPair<T>(parameters, column, rows, sums.pairs[k]);
    } else {
      const T* const first = static_cast<const T*>(parameters.elements) + column;
      FinishGroup(parameters, column, rows, SumInWords(first, parameters.group_count, rows));
    }
  }
}

// Tiles of a warp's width, of which each thread takes all rows: sum_rows(ColumnRows) adds them up.
template <class T, class SumRows>
__device__ inline void SumWholeColumns(const ReductionParameters& parameters,
                                       const ColumnWork& work, SumRows sum_rows) {
  const uint32_t warps = blockDim.x / ReduceTuning::kWarpThreads;
  const ColumnLanes<T> lanes(parameters, threadIdx.x % ReduceTuning::kWarpThreads,
                             work.tile_columns_log2);
#pragma unroll 1
  for (uint64_t tile = uint64_t{blockIdx.x} * warps + threadIdx.x / ReduceTuning::kWarpThreads;
       tile < work.tile_count; tile += uint64_t{gridDim.x} * warps) {
    const uint64_t first_column = tile << work.tile_columns_log2;
    const ColumnPairs<T> sums =
        lanes.in_vectors ? sum_rows(ColumnRows<T, true>(parameters, lanes, first_column, 0))
                         : sum_rows(ColumnRows<T, false>(parameters, lanes, first_column, 0));
    FinishColumns(parameters, lanes, first_column, sums);
  }
}

template <class T>
__global__ void __launch_bounds__(PairTuning::kThreads, PairTuning::kShallowResidentBlocks)
    ReduceShallowColumnSums(const __grid_constant__ ReductionParameters parameters,
                            const __grid_constant__ ColumnWork work) {
  SumWholeColumns<T>(parameters, work, [&](const auto& column_rows) {
    return SumFewRows(column_rows, parameters.group_size);
  });
}

template <class T>
__global__ void __launch_bounds__(PairTuning::kWholeColumnThreads,
                                  PairTuning::kWholeColumnResidentBlocks)
    ReduceWholeColumnSums(const __grid_constant__ ReductionParameters parameters,
                          const __grid_constant__ ColumnWork work) {
  SumWholeColumns<T>(parameters, work, [&](const auto& column_rows) {
    return SumManyRows(column_rows, static_cast<uint32_t>(parameters.group_size));
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_WHOLE_COLUMNS_CUH_
