// Kernels for axis 0 sum float64 columns whose elements are finite and not too far apart, in units
// of a column (double_units.cuh): blocks take items of a tile of columns, or warps all rows of a
// tile. Tiles with columns that units do not hold are left to columns.cuh.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_COLUMNS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce/columns/double_units.cuh"
#include "kernels/cuda/reduce/columns/items.cuh"
#include "kernels/cuda/reduce/columns/pairs.cuh"
#include "kernels/cuda/reduce/columns/sums.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// The upper half of the largest magnitude of some rows.
template <uint32_t kRows>
__device__ inline uint32_t LargestOf(const uint4 (&raw)[kRows]) {
  uint32_t largest = 0;
#pragma unroll
  for (uint32_t r = 0; r < kRows; ++r) {
    for (const double x : BatchOf<double>(raw[r]).values) largest = max(largest, MagnitudeBits(x));
  }
  return largest;
}

// All rows of a thread's columns, those ahead being loaded while others are added. Returns whether
// their sums hold.
template <bool kSumsAlone, bool kInVectors>
__device__ inline bool SumWholeDoubleColumns(const ReductionParameters& parameters,
                                             const ColumnLanes<double>& lanes,
                                             uint64_t first_column) {
  constexpr uint32_t kRows = ColumnSumRowsInFlight(sizeof(double));
  const ColumnRows<double, kInVectors> column_rows(parameters, lanes, first_column, 0);
  const uint32_t rows = static_cast<uint32_t>(parameters.group_size);
  uint4 ahead[kRows];
  column_rows.Load(0, 1, rows, ahead);
  DoubleColumns sums;
#pragma unroll 1
  for (uint32_t row = 0; row < rows;) {
    uint4 raw[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) raw[r] = ahead[r];
    const bool is_first = row == 0;
    row += kRows;
    if (row < rows) column_rows.Load(row, 1, rows - row, ahead);
    if (is_first) sums = DoubleColumns(ColumnSplit(rows, rows, LargestOf(raw)));
    if (!sums.Add(raw)) break;
  }
#pragma unroll
  for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) {
    const uint64_t column = first_column + lanes.Column(k);
    if (column < parameters.group_count) {
      FinishUnits<kSumsAlone>(parameters, column, sums.split(), sums.Units(k));
    }
  }
  return sums.holds();
}

// A warp for a tile of columns. T: double. kSumsAlone: nothing but sums is asked for.
template <class T, bool kSumsAlone>
__global__ void __launch_bounds__(PairTuning::kWholeColumnThreads,
                                  PairTuning::kWholeColumnResidentBlocks)
    ReduceWholeDoubleColumns(const __grid_constant__ ReductionParameters parameters,
                             const __grid_constant__ ColumnWork work) {
  const WarpTiles tiles;
  const ColumnLanes<T> lanes(parameters, threadIdx.x % ReduceTuning::kWarpThreads,
                             work.tile_columns_log2);
#pragma unroll 1
  for (uint64_t tile = tiles.first; tile < work.tile_count; tile += tiles.step) {
    const uint64_t first_column = tile << work.tile_columns_log2;
    const bool holds =
        lanes.in_vectors
            ? SumWholeDoubleColumns<kSumsAlone, true>(parameters, lanes, first_column)
            : SumWholeDoubleColumns<kSumsAlone, false>(parameters, lanes, first_column);
    if (!holds) LeaveTile(work, tile);
  }
}

// The most columns of a tile: no more than a warp has lanes.
inline constexpr uint32_t kDoubleTileColumnsMax = ReduceTuning::kWarpThreads * 2;

struct DoubleColumnMemory {
  ColumnUnits units[PairTuning::kColumnWarpsMax][kDoubleTileColumnsMax];
  uint32_t largest;
  uint32_t turns_drawn;
  uint32_t drawn;  // For IsLastBlock.
};

// How a tile's elements are split: by some rows of it, the same for all of its blocks.
template <bool kInVectors>
__device__ inline ColumnSplit SplitOfTile(const cg::thread_block& block, const Warp& warp,
                                          const ReductionParameters& parameters,
                                          const ColumnSumItem& item,
                                          const ColumnLanes<double>& lanes, uint64_t thread_rows,
                                          uint32_t& shared_largest) {
  const ColumnRows<double, kInVectors> rows(parameters, lanes, item.first_column, 0);
  const uint64_t samples = uint64_t{warp.meta_group_size()} * lanes.rows;
  const uint64_t sample = uint64_t{warp.meta_group_rank()} * lanes.rows + lanes.row;
  const uint64_t row = parameters.group_size * sample / samples;
  uint4 raw[1];
  rows.Load(row, 1, 1, raw);
  const uint32_t largest = __reduce_max_sync(~0u, LargestOf(raw));
  if (warp.thread_rank() == 0) atomicMax_block(&shared_largest, largest);
  SyncBlock(block);
  return ColumnSplit(parameters.group_size, thread_rows, shared_largest);
}

__device__ inline ColumnUnits UnitsOfLane(const Warp& warp, const ColumnUnits& units,
                                          uint32_t distance) {
  return {warp.shfl_xor(units.parts[0], distance), warp.shfl_xor(units.parts[1], distance),
          warp.shfl_xor(units.parts[2], distance), warp.shfl_xor(units.others, distance)};
}

// Joins the units of a block's threads, and calls take(column of the tile, units) for each column.
// Called by all threads, has a barrier, and another is needed before the next call.
template <class F>
__device__ inline void JoinUnits(const cg::thread_block& block, const Warp& warp,
                                 const ColumnLanes<double>& lanes,
                                 ColumnUnits (&units)[DoubleColumns::kSize],
                                 DoubleColumnMemory& memory, F take) {
#pragma unroll
  for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) {
#pragma unroll 1
    for (uint32_t distance = lanes.lanes; distance < ReduceTuning::kWarpThreads; distance *= 2) {
      units[k].Merge(UnitsOfLane(warp, units[k], distance));
    }
    if (lanes.row == 0) memory.units[warp.meta_group_rank()][lanes.Column(k)] = units[k];
  }
  SyncBlock(block);
  const uint32_t columns = lanes.lanes * DoubleColumns::kSize;
  for (uint32_t c = block.thread_rank(); c < columns; c += static_cast<uint32_t>(block.size())) {
    ColumnUnits sum = memory.units[0][c];
    for (uint32_t w = 1; w < warp.meta_group_size(); ++w) sum.Merge(memory.units[w][c]);
    take(c, sum);
  }
}

// The thread's share of what the splits of a tile left.
struct alignas(16) ColumnUnitHalves {
  longlong2 lower;
  longlong2 upper;
};
__device__ inline void LoadUnits(const Warp& warp, const ReductionParameters& parameters,
                                 const ColumnWork& work, const ColumnSumItem& item,
                                 const ColumnLanes<double>& lanes,
                                 ColumnUnits (&units)[DoubleColumns::kSize]) {
  const uint32_t parts = lanes.rows * warp.meta_group_size();
  const longlong2* const partials = static_cast<const longlong2*>(work.partials);
#pragma unroll
  for (ColumnUnits& of_column : units) of_column = {};
#pragma unroll 1
  for (uint64_t split = warp.meta_group_rank() * lanes.rows + lanes.row; split < work.splits;
       split += parts) {
#pragma unroll
    for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) {
      const uint64_t column = item.first_column + lanes.Column(k);
      if (column >= parameters.group_count) continue;
      const longlong2* const at = partials + 2 * (split * parameters.group_count + column);
      units[k].Merge(std::bit_cast<ColumnUnits>(ColumnUnitHalves{__ldcg(at), __ldcg(at + 1)}));
    }
  }
}

// The thread's share of an item's rows.
template <bool kInVectors, class T>
__device__ inline void SumDoubleColumnRows(const cg::thread_block& block, const Warp& warp,
                                           const ReductionParameters& parameters,
                                           const ColumnWork& work, const ColumnSumItem& item,
                                           const ColumnLanes<T>& lanes, DoubleColumnMemory& memory,
                                           ColumnSplit& split,
                                           ColumnUnits (&units)[DoubleColumns::kSize]) {
  // A warp may draw all turns.
  split = SplitOfTile<kInVectors>(block, warp, parameters, item, lanes,
                                  item.rows_max / lanes.rows + 1, memory.largest);
  DoubleColumns sums(split);
  AddTurns<kInVectors>(warp, parameters, item, lanes, &memory.turns_drawn,
                       [&](const auto& raw) { return sums.Add(raw); });
  if (!sums.holds()) LeaveTile(work, item.tile);
#pragma unroll
  for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) units[k] = sums.Units(k);
}

// Joins the i-th item's sums, and those of its tile in the last block. Not inlined, so that
// registers that it needs are not kept while rows are added. Called by all threads.
template <class T>
__device__ __noinline__ void FinishDoubleColumnItem(const ReductionParameters& parameters,
                                                    const ColumnWork& work, uint64_t i,
                                                    const ColumnSplit& split,
                                                    ColumnUnits (&units)[DoubleColumns::kSize],
                                                    DoubleColumnMemory& memory) {
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const ColumnLanes<T> lanes(parameters, warp.thread_rank(), work.tile_columns_log2);
  const ColumnSumItem item(parameters, work, ColumnSumRowsInFlight(sizeof(T)) * lanes.rows, i);
  const auto finish = [&](uint32_t c, const ColumnUnits& sum) {
    const uint64_t column = item.first_column + c;
    if (column >= parameters.group_count) return;
    if (parameters.AskForOnly(Statistic::kSum)) {
      FinishUnits<true>(parameters, column, split, sum);
    } else {
      FinishUnits<false>(parameters, column, split, sum);
    }
  };
  if (work.splits == 1) return JoinUnits(block, warp, lanes, units, memory, finish);
  JoinUnits(block, warp, lanes, units, memory, [&](uint32_t c, const ColumnUnits& sum) {
    const uint64_t column = item.first_column + c;
    if (column >= parameters.group_count) return;
    static_cast<ColumnUnits*>(work.partials)[item.split * parameters.group_count + column] = sum;
  });
  if (!IsLastBlock(block, &work.tickets[item.tile], work.splits, memory.drawn)) return;
  LoadUnits(warp, parameters, work, item, lanes, units);
  JoinUnits(block, warp, lanes, units, memory, finish);
}

// Items of a tile of columns, in blocks. T: double.
template <class T>
__global__ void __launch_bounds__(PairTuning::kColumnThreads)
    ReduceDoubleColumns(const __grid_constant__ ReductionParameters parameters,
                        const __grid_constant__ ColumnWork work) {
  __shared__ DoubleColumnMemory memory;
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const ColumnLanes<T> lanes(parameters, warp.thread_rank(), work.tile_columns_log2);
  const uint32_t turn_rows = ColumnSumRowsInFlight(sizeof(T)) * lanes.rows;
#pragma unroll 1
  for (uint64_t i = blockIdx.x; i < work.tile_count * work.splits; i += gridDim.x) {
    const ColumnSumItem item(parameters, work, turn_rows, i);
    if (block.thread_rank() == 0) {
      memory.turns_drawn = warp.meta_group_size();
      memory.largest = 0;
    }
    SyncBlock(block);
    ColumnSplit split;
    ColumnUnits units[DoubleColumns::kSize];
    if (lanes.in_vectors) {
      SumDoubleColumnRows<true>(block, warp, parameters, work, item, lanes, memory, split, units);
    } else {
      SumDoubleColumnRows<false>(block, warp, parameters, work, item, lanes, memory, split, units);
    }
    FinishDoubleColumnItem<T>(parameters, work, i, split, units, memory);
    SyncBlock(block);  // Before shared memory is used again.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_COLUMNS_CUH_
