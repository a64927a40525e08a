// These kernels make several statistics along axis 0 by MomentColumns: blocks take items of a tile
// of columns, as in sums.cuh, or warps take all rows of a tile. Tiles with elements that are not
// held are left to columns.cuh.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_MOMENT_TILES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_MOMENT_TILES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/columns/half_moment_columns.cuh"
#include "kernels/cuda/reduce/columns/moment_columns.cuh"
#include "kernels/cuda/reduce/columns/prefetch.cuh"
#include "kernels/cuda/reduce/columns/sums.cuh"
#include "kernels/cuda/reduce/columns/whole_columns.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/plan/pair_tuning.h"

namespace gridfold::kernels::cuda {

template <class T>
struct MomentColumnsOf {
  using type = HalfMomentColumns<T>;
};
template <>
struct MomentColumnsOf<float> {
  using type = FloatMomentColumns;
};
template <class T>
using MomentColumns = typename MomentColumnsOf<T>::type;
template <class T>
using MomentWindow = typename MomentColumns<T>::Window;
template <class T>
using MomentLanes = ColumnLanes<T, MomentColumnVector<T>>;
template <class T>
using LaneMoments = ColumnMoments[MomentColumns<T>::kSize];

// The rows of a turn that count: of columns that do not exist, none.
template <class T>
__device__ inline uint32_t RowsThatCount(const MomentLanes<T>& lanes, uint64_t columns_left,
                                         uint32_t count) {
  if constexpr (!HalfElement<T>) return count;
  return lanes.Column(0) < columns_left ? count : 0;
}

struct MomentMemory {
  SharedStates<ColumnMoments, PairTuning::kColumnThreads> moments;
  uint32_t largest;
  uint32_t turns_drawn;
  uint32_t drawn;  // For IsLastBlock.
};

// The largest magnitude of a vector's elements that are finite, as a float's bits.
template <class T>
__device__ inline uint32_t LargestFinite(const MomentColumnVector<T>& raw) {
  struct Elements {
    T values[MomentColumns<T>::kSize];
  };
  uint32_t largest = 0;
  for (const T x : std::bit_cast<Elements>(raw).values) {
    const float value = ToCompute(x);
    if (IsFinite(value)) largest = max(largest, MagnitudeBits(value));
  }
  return largest;
}

// The window for a tile: by some rows of it, the same for all of its blocks.
template <bool kInVectors, class T>
__device__ inline MomentWindow<T> WindowOfTile(const cg::thread_block& block, const Warp& warp,
                                               const ReductionParameters& parameters,
                                               const ColumnSumItem& item,
                                               const MomentLanes<T>& lanes,
                                               uint32_t& shared_largest) {
  const ColumnRows<T, kInVectors, MomentColumnVector<T>> rows(parameters, lanes, item.first_column,
                                                              0);
  const uint64_t samples = uint64_t{warp.meta_group_size()} * lanes.rows;
  const uint64_t sample = uint64_t{warp.meta_group_rank()} * lanes.rows + lanes.row;
  MomentColumnVector<T> raw[1];
  rows.Load(parameters.group_size * sample / samples, 1, 1, raw);
  const uint32_t largest = __reduce_max_sync(~0u, LargestFinite<T>(raw[0]));
  if (warp.thread_rank() == 0) atomicMax_block(&shared_largest, largest);
  SyncBlock(block);
  return MomentWindow<T>(shared_largest);
}

// An element of a column, as a float.
template <class T>
__device__ inline float ElementAt(const ReductionParameters& parameters, uint64_t row,
                                  uint64_t column) {
  return ToCompute(static_cast<const T*>(
      parameters.elements)[row * parameters.row_pitch + parameters.FirstOfColumn(column)]);
}

// The thread's share of an item's rows.
template <bool kInVectors, class T>
__device__ inline void AddItemMoments(const cg::thread_block& block, const Warp& warp,
                                      const ReductionParameters& parameters, const ColumnWork& work,
                                      const ColumnSumItem& item, const MomentLanes<T>& lanes,
                                      MomentMemory& memory, MomentWindow<T>& window,
                                      LaneMoments<T>& moments) {
  using Columns = MomentColumns<T>;
  window = WindowOfTile<kInVectors, T>(block, warp, parameters, item, lanes, memory.largest);
  const OutlierList outliers(work, item.tile);
  typename Columns::Rest rest;
  Columns columns(window, rest);
  const ColumnRows<T, kInVectors, MomentColumnVector<T>> rows(parameters, lanes, item.first_column,
                                                              item.first_row);
  DrawTurns<Columns::kRows, MomentColumnVector<T>, kMomentColumnShape<T>.turns_max>(
      warp, {item.first_row, item.rows_left, item.turn_step},
      ItemDraws(memory.turns_drawn, warp.meta_group_rank(), warp.thread_rank()), lanes, rows,
      NoPrefetch{}, [&](const auto& raw, uint32_t turn, uint64_t rows_left) {
        const uint32_t count = RowsThatCount<T>(lanes, parameters.group_count - item.first_column,
                                                RowsPresent<Columns::kRows>(rows_left, lanes.rows));
        const bool is_held =
            columns.Add(raw, turn, count, outliers, [&](uint32_t k) { return lanes.Column(k); });
        if (!is_held) LeaveTile(work, item.tile);
        return is_held;
      });
  const bool has_places = AsksForPlaces(parameters);
  const auto row_of = [&](uint32_t turn, uint32_t r) {
    const uint64_t row = turn * item.turn_step + lanes.row + uint64_t{r} * lanes.rows;
    return row < item.rows_left ? item.first_row + row : kNoIndex;
  };
#pragma unroll
  for (uint32_t k = 0; k < Columns::kSize; ++k) {
    const uint64_t column = item.first_column + lanes.Column(k);
    moments[k] = {};
    if (column >= parameters.group_count) continue;
    moments[k] = columns.MomentsOf(
        k, has_places, row_of, [&](uint64_t row) { return ElementAt<T>(parameters, row, column); });
  }
}

// Joins what a block's threads have of their k-th columns, and calls take(column of the tile,
// moments) for each. Called by all threads, and has barriers.
template <class T, class F>
__device__ inline void JoinMoments(const cg::thread_block& block, const Warp& warp,
                                   const MomentLanes<T>& lanes, const LaneMoments<T>& of_lane,
                                   MomentMemory& memory, F take) {
  const uint32_t rank = block.thread_rank();
#pragma unroll 1
  for (uint32_t k = 0; k < MomentColumns<T>::kSize; ++k) {
    ColumnMoments moments = of_lane[k];
#pragma unroll 1
    for (uint32_t distance = lanes.lanes; distance < ReduceTuning::kWarpThreads; distance *= 2) {
      moments.Merge(moments.OfLane(warp, distance));
    }
    SyncBlock(block);  // Those before are read.
    if (lanes.row == 0) memory.moments[warp.meta_group_rank() * lanes.lanes + lanes.lane] = moments;
    SyncBlock(block);
    if (rank >= lanes.lanes) continue;
    moments = memory.moments[rank];
#pragma unroll 1
    for (uint32_t w = 1; w < warp.meta_group_size(); ++w) {
      moments.Merge(memory.moments[w * lanes.lanes + rank]);
    }
    take(lanes.ColumnOf(rank, k), moments);
  }
}

// The thread's share of what the splits of a tile left.
template <class T>
__device__ inline void LoadMoments(const Warp& warp, const ReductionParameters& parameters,
                                   const ColumnWork& work, const ColumnSumItem& item,
                                   const MomentLanes<T>& lanes, LaneMoments<T>& moments) {
  const ColumnMoments* const partials = static_cast<const ColumnMoments*>(work.partials);
#pragma unroll 1
  for (uint32_t k = 0; k < MomentColumns<T>::kSize; ++k) {
    moments[k] = {};
    const uint64_t column = item.first_column + lanes.Column(k);
    if (column >= parameters.group_count) continue;
#pragma unroll 1
    for (uint64_t split = warp.meta_group_rank() * lanes.rows + lanes.row; split < work.splits;
         split += lanes.rows * warp.meta_group_size()) {
      moments[k].Merge(partials[split * parameters.group_count + column]);
    }
  }
}

// Joins the i-th item's moments, and those of its tile in the last block. Not inlined, so that
// registers that it needs are not kept while rows are added. Called by all threads.
template <class T>
__device__ __noinline__ void FinishMomentItem(const ReductionParameters& parameters,
                                              const ColumnWork& work, uint64_t i,
                                              const MomentWindow<T>& window,
                                              LaneMoments<T>& moments, MomentMemory& memory) {
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const MomentLanes<T> lanes(parameters, warp.thread_rank(), work.tile_columns_log2);
  const ColumnSumItem item(parameters, work, MomentColumns<T>::kRows * lanes.rows, i);
  const OutlierList outliers(work, item.tile);
  bool is_whole = work.splits == 1;
#pragma unroll 1
  for (;;) {
    JoinMoments<T>(block, warp, lanes, moments, memory, [&](uint32_t c, const ColumnMoments& sum) {
      const uint64_t column = item.first_column + c;
      if (column >= parameters.group_count) return;
      if (is_whole) {
        if (TileIsLeft(work, item.tile)) return;
        FinishMoments<T>(parameters, column, c, window, sum, outliers);
      } else {
        static_cast<ColumnMoments*>(work.partials)[item.split * parameters.group_count + column] =
            sum;
      }
    });
    if (is_whole) return;
    if (!IsLastBlock(block, &work.tickets[item.tile], work.splits, memory.drawn)) return;
    LoadMoments<T>(warp, parameters, work, item, lanes, moments);
    is_whole = true;
  }
}

template <class T>
__global__ void __launch_bounds__(PairTuning::kColumnThreads, 1)
    ReduceMomentColumns(const __grid_constant__ ReductionParameters parameters,
                        const __grid_constant__ ColumnWork work) {
  __shared__ MomentMemory memory;
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const MomentLanes<T> lanes(parameters, warp.thread_rank(), work.tile_columns_log2);
#pragma unroll 1
  for (uint64_t i = blockIdx.x; i < work.tile_count * work.splits; i += gridDim.x) {
    const ColumnSumItem item(parameters, work, MomentColumns<T>::kRows * lanes.rows, i);
    if (block.thread_rank() == 0) {
      memory.turns_drawn = warp.meta_group_size();
      memory.largest = 0;
    }
    SyncBlock(block);
    MomentWindow<T> window;
    LaneMoments<T> moments;
    if (lanes.in_vectors) {
      AddItemMoments<true, T>(block, warp, parameters, work, item, lanes, memory, window, moments);
    } else {
      AddItemMoments<false, T>(block, warp, parameters, work, item, lanes, memory, window, moments);
    }
    FinishMomentItem<T>(parameters, work, i, window, moments, memory);
    SyncBlock(block);  // Before shared memory is used again.
  }
}

// All rows of a thread's columns, those ahead being loaded while others are added.
template <bool kInVectors, class T>
__device__ inline void AddWholeMoments(const ReductionParameters& parameters,
                                       const ColumnWork& work, const MomentLanes<T>& lanes,
                                       uint64_t tile) {
  using Columns = MomentColumns<T>;
  using Vector = MomentColumnVector<T>;
  const uint64_t first_column = tile << work.tile_columns_log2;
  const ColumnRows<T, kInVectors, Vector> column_rows(parameters, lanes, first_column, 0);
  const OutlierList outliers(work, tile);
  const uint32_t rows = static_cast<uint32_t>(parameters.group_size);
  const RowPrefetch prefetch(parameters, sizeof(T), 0, 0, first_column,
                             lanes.lanes * Columns::kSize, Columns::kRows);
  Vector ahead[Columns::kRows];
  column_rows.Load(0, 1, rows, ahead);
  uint32_t largest = 0;
  for (const Vector& vector : ahead) largest = max(largest, LargestFinite<T>(vector));
  if constexpr (HalfElement<T>) largest = __reduce_max_sync(~0u, largest);
  const MomentWindow<T> window(largest);
  typename Columns::Rest rest;
  Columns columns(window, rest);
  bool is_held = true;
#pragma unroll 1
  for (uint32_t row = 0; row < rows && __all_sync(~0u, is_held);) {
    Vector raw[Columns::kRows];
#pragma unroll
    for (uint32_t r = 0; r < Columns::kRows; ++r) raw[r] = ahead[r];
    const uint32_t first = row;
    row += Columns::kRows;
    if (row < rows) column_rows.Load(row, 1, rows - row, ahead);
    if (row + 2 * Columns::kRows <= rows) prefetch.Bring(row + Columns::kRows);
    const uint32_t count = RowsThatCount<T>(lanes, parameters.group_count - first_column,
                                            min(rows - first, Columns::kRows));
    is_held = columns.Add(raw, first / Columns::kRows, count, outliers,
                          [&](uint32_t k) { return lanes.Column(k); });
  }
  if (!is_held) LeaveTile(work, tile);
  if (!__all_sync(~0u, is_held)) return;
  const bool has_places = AsksForPlaces(parameters);
  const auto row_of = [&](uint32_t turn, uint32_t r) {
    const uint64_t row = uint64_t{turn} * Columns::kRows + r;
    return row < rows ? row : kNoIndex;
  };
#pragma unroll
  for (uint32_t k = 0; k < Columns::kSize; ++k) {
    const uint64_t column = first_column + lanes.Column(k);
    if (column >= parameters.group_count) continue;
    const ColumnMoments moments = columns.MomentsOf(
        k, has_places, row_of, [&](uint64_t row) { return ElementAt<T>(parameters, row, column); });
    FinishMoments<T>(parameters, column, lanes.Column(k), window, moments, outliers);
  }
}

// A warp for a tile of columns.
template <class T>
__global__ void __launch_bounds__(PairTuning::kWholeColumnThreads,
                                  PairTuning::kWholeColumnResidentBlocks)
    ReduceWholeMomentColumns(const __grid_constant__ ReductionParameters parameters,
                             const __grid_constant__ ColumnWork work) {
  const WarpTiles tiles;
  const MomentLanes<T> lanes(parameters, threadIdx.x % ReduceTuning::kWarpThreads,
                             work.tile_columns_log2);
#pragma unroll 1
  for (uint64_t tile = tiles.first; tile < work.tile_count; tile += tiles.step) {
    if (lanes.in_vectors) {
      AddWholeMoments<true, T>(parameters, work, lanes, tile);
    } else {
      AddWholeMoments<false, T>(parameters, work, lanes, tile);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_MOMENT_TILES_CUH_
