// These functions are what the kernels of kernels.cuh do for columns that do not take all data: the
// windows of DoubleMomentColumns, tiles that are left to ReduceColumns, and where extremes are. For
// columns that take all data the functions do nothing, or what is said there.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WINDOW_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WINDOW_COLUMNS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/columns/double_moment_columns.cuh"
#include "kernels/cuda/reduce/columns/items.cuh"
#include "kernels/cuda/reduce/columns/vectors.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

template <class Columns>
inline constexpr bool kHasWindows = std::is_same_v<Columns, DoubleMomentColumns>;
// That a lane takes of an item; 0 where it takes any.
template <class Columns>
inline constexpr uint32_t kTurnsMaxOf = kHasWindows<Columns> ? MomentTuning::kDoubleTurnsMax : 0;

// The largest finite magnitudes that were seen of a tile's columns: upper halves of float64.
struct ColumnSamples {
  static constexpr uint32_t kColumnsMax =
      ColumnVectorTuning::kWarpsMax * ReduceTuning::kWarpThreads;
  uint32_t largest[kColumnsMax];

  __device__ void Clear(uint32_t rank) {
    if (rank < kColumnsMax) largest[rank] = 0;
  }
};

// Rows, all over a column, of which a lane looks at the elements.
inline constexpr uint32_t kLaneSamples = 4;

__device__ inline uint32_t LargestFiniteOf(double x, uint32_t largest) {
  return IsFinite(x) ? max(largest, MagnitudeBits(x)) : largest;
}
// The largest of samples [first, first + kLaneSamples) of `count`, and of what was seen before.
__device__ inline uint32_t LargestSample(const ReductionParameters& parameters, uint64_t column,
                                         uint64_t first, uint64_t count, uint32_t largest) {
  if (column >= parameters.group_count) return largest;
  const double* const elements =
      static_cast<const double*>(parameters.elements) + parameters.FirstOfColumn(column);
#pragma unroll
  for (uint32_t i = 0; i < kLaneSamples; ++i) {
    const uint64_t row = (parameters.group_size - 1) * (first + i) / (count - 1);
    largest = LargestFiniteOf(elements[row * parameters.row_pitch], largest);
  }
  return largest;
}
// The window for a largest sample. A column of zeros, or of none, has the window of others of the
// warp.
__device__ inline DoubleColumnWindow WindowOf(uint32_t largest) {
  const uint32_t of_warp = __reduce_max_sync(~0u, largest);
  return DoubleColumnWindow(largest != 0 ? largest : of_warp);
}

// A lane's columns of an item. Called by all threads, and may have a barrier; `samples` is clear.
template <class Columns, class Place>
__device__ inline Columns ColumnsOfItem(const cg::thread_block& block,
                                        const ReductionParameters& parameters,
                                        const ColumnWork& work, const ColumnSumItem& item,
                                        const Place& place, ColumnSamples& samples) {
  if constexpr (kHasWindows<Columns>) {
    const uint32_t column = place.Column();
    const uint64_t lane = uint64_t{place.warp_row} * place.rows + place.row;
    const uint64_t lanes = uint64_t{place.warp_rows} * place.rows;
    const uint32_t largest = LargestSample(parameters, item.first_column + column,
                                           lane * kLaneSamples, lanes * kLaneSamples, 0);
    atomicMax_block(&samples.largest[column], largest);
    SyncBlock(block);
    return Columns(WindowOf(samples.largest[column]), DoubleOutliers(work, item.tile), column);
  } else {
    return Columns(parameters);
  }
}

// A lane's columns of all rows of a tile, of which the lane has the first.
template <class Columns, class Word, uint32_t kRows>
__device__ inline Columns ColumnsOfTile(const ReductionParameters& parameters,
                                        const ColumnWork& work, uint64_t tile, uint32_t column,
                                        const Word (&rows)[kRows]) {
  if constexpr (kHasWindows<Columns>) {
    uint32_t largest = 0;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      largest = LargestFiniteOf(std::bit_cast<double>(rows[r]), largest);
    }
    largest = LargestSample(parameters, (tile << work.tile_columns_log2) + column, 0, kLaneSamples,
                            largest);
    return Columns(WindowOf(largest), DoubleOutliers(work, tile), column);
  } else {
    return Columns(parameters);
  }
}

// Whether what was added to columns is held.
template <class Columns>
__device__ inline bool Hold(const Columns& columns) {
  if constexpr (kHasWindows<Columns>) return columns.Holds();
  return true;
}

// What a lane has of the k-th of its columns.
template <class Columns, class RowOf>
__device__ inline typename Columns::Partial PartialOf(const ReductionParameters& parameters,
                                                      const Columns& columns, uint64_t column,
                                                      uint32_t k, RowOf row_of) {
  if constexpr (kHasWindows<Columns>) {
    if (column >= parameters.group_count) return {};
    const double* const elements =
        static_cast<const double*>(parameters.elements) + parameters.FirstOfColumn(column);
    const auto row_or_none = [&](uint32_t position) {
      const uint64_t row = row_of(position);
      return row < parameters.group_size ? row : kNoIndex;
    };
    return columns.PartialOf(AsksForPlaces(parameters), row_or_none,
                             [&](uint64_t row) { return elements[row * parameters.row_pitch]; });
  } else {
    return columns.PartialOf(k, row_of);
  }
}

// Writes what is asked for of a column of a tile, unless the tile is left.
template <class Columns>
__device__ inline void FinishColumn(const ReductionParameters& parameters, const ColumnWork& work,
                                    uint64_t tile, uint32_t column,
                                    const typename Columns::Partial& partial) {
  const uint64_t of_array = (tile << work.tile_columns_log2) + column;
  if constexpr (kHasWindows<Columns>) {
    if (TileIsLeft(work, tile)) return;
    Columns::Finish(parameters, of_array, column, partial, DoubleOutliers(work, tile));
  } else {
    Columns::Finish(parameters, of_array, partial);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WINDOW_COLUMNS_CUH_
