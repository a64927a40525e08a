// A block sums floating-point columns along axis 0: a thread takes vectors of neighbouring columns,
// and keeps a pair for each column (reduce/core/pairs.cuh). A block takes some rows of a tile of
// columns; its warps draw turns of them, and lanes side by side take the columns of a row. Turns
// are dealt out to the splits of a tile one by one, so that blocks read rows that are near each
// other. Items that pairs do not hold are read again and added to words (words.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/columns/columns.cuh"
#include "kernels/cuda/reduce/columns/items.cuh"
#include "kernels/cuda/reduce/columns/pairs.cuh"
#include "kernels/cuda/reduce/columns/words.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"

namespace gridfold::kernels::cuda {

// What blocks leave for the last of their tile: pairs [split][column], states [split][column] where
// pairs do not hold, and for each split of a tile its range, kInStates where it has states.
template <class T>
struct ColumnPartials {
  static constexpr uint32_t kInStates = ~uint32_t{0};
  PairSum* pairs;
  SumOnlyState<T>* states;
  uint2* ranges;
  uint64_t columns;

  __device__ ColumnPartials(const ReductionParameters& parameters, const ColumnWork& work)
      : pairs(static_cast<PairSum*>(work.partials)),
        states(reinterpret_cast<SumOnlyState<T>*>(pairs + work.splits * parameters.group_count)),
        ranges(reinterpret_cast<uint2*>(states + work.splits * parameters.group_count)),
        columns(parameters.group_count) {
    static_assert(sizeof(PairSum) + sizeof(SumOnlyState<T>) + sizeof(uint2) <=
                  PairTuning::kColumnPartialBytes);
  }
};

// Pairs of a block's warps, of each for all columns of a tile. They stand where words do. Plain
// doubles, since shared memory cannot have constructors.
using WarpPairs = double2[PairTuning::kTileColumnsMax];
static_assert(sizeof(WarpPairs) <= ReduceTuning::kWarpThreads * kSingleSumWords * sizeof(int64_t));

// The rest of a block's shared memory.
struct ColumnSumMemory {
  uint2 ranges[PairTuning::kColumnWarpsMax];
  uint32_t flags[PairTuning::kColumnThreads];  // Of words.
  uint32_t turns_drawn;
  uint32_t drawn;  // For IsLastBlock.
};

// The state of a split's column.
template <class T>
__device__ inline SumOnlyState<T> StateOfPartial(const ColumnPartials<T>& partials,
                                                 const ColumnWork& work, uint64_t split,
                                                 uint64_t tile, uint64_t column) {
  const uint64_t at = split * partials.columns + column;
  if (partials.ranges[split * work.tile_count + tile].x == ColumnPartials<T>::kInStates) {
    return partials.states[at];
  }
  SumOnlyState<T> state;
  state.template Part<kSumPart>().sum = ExactSumOf(partials.pairs[at]);
  return state;
}

// Finishes a tile's columns from all splits, whatever they left. Called by all threads; not
// inlined: it is long and seldom needed.
template <class T>
__device__ __noinline__ void FinishSplitsByStates(const ReductionParameters& parameters,
                                                  const ColumnWork& work, uint64_t tile,
                                                  uint32_t* flags) {
  const cg::thread_block block = cg::this_thread_block();
  const ColumnPartials<T> partials(parameters, work);
  const ColumnLayout layout =
      ColumnLayout::Of(block.thread_rank(), block.size(), work.tile_columns_log2);
  const uint64_t column = (tile << work.tile_columns_log2) + layout.column;
  const bool exists = column < parameters.group_count;
  SumOnlyState<T> state;
#pragma unroll 1
  for (uint64_t split = layout.row; exists && split < work.splits; split += layout.rows) {
    state.Merge(StateOfPartial(partials, work, split, tile, column));
  }
  state = JoinStates<T>(state, block, layout, flags);
  if (exists && layout.row == 0) FinishGroup(parameters, column, parameters.group_size, state);
}

// Sums an item whatever its elements are. Called by all threads, and ends with a barrier; not
// inlined: it is long and seldom needed. The item is a copy, so that the caller's is in registers.
template <class T>
__device__ __noinline__ void SumItemByStates(const ReductionParameters& parameters,
                                             const ColumnWork& work, ColumnSumItem item,
                                             uint32_t turn_rows, uint32_t* flags) {
  const cg::thread_block block = cg::this_thread_block();
  const ColumnPartials<T> partials(parameters, work);
  const ColumnLayout layout =
      ColumnLayout::Of(block.thread_rank(), block.size(), work.tile_columns_log2);
  const SumOnlyState<T> state =
      SumItemInWords<T>(parameters, item, turn_rows, block, layout, flags);
  const uint64_t column = item.first_column + layout.column;
  if (column < parameters.group_count && layout.row == 0) {
    if (work.splits > 1) {
      partials.states[item.split * parameters.group_count + column] = state;
    } else {
      FinishGroup(parameters, column, parameters.group_size, state);
    }
  }
  if (work.splits > 1 && block.thread_rank() == 0) {
    partials.ranges[item.split * work.tile_count + item.tile] = {ColumnPartials<T>::kInStates, 0};
  }
  SyncBlock(block);
}

// The thread's share of an item: calls add(rows) for the turns of rows that its warp draws, as
// DrawTurns.
template <bool kInVectors, class T, class F>
__device__ inline void AddTurns(const Warp& warp, const ReductionParameters& parameters,
                                const ColumnSumItem& item, const ColumnLanes<T>& lanes,
                                uint32_t* turns_drawn, F add) {
  const DrawnRows drawn_rows{item.first_row >> lanes.vector_rows_log2,
                             item.rows_left >> lanes.vector_rows_log2,
                             item.turn_step >> lanes.vector_rows_log2};
  const ColumnRows<T, kInVectors> rows(parameters, lanes, item.first_column, drawn_rows.first);
  const ItemDraws draws(*turns_drawn, warp.meta_group_rank(), warp.thread_rank());
  constexpr uint32_t kRows = ColumnSumRowsInFlight(sizeof(T));
  const auto draw = [&](const auto& prefetch) {
    DrawTurns<kRows, uint4>(warp, drawn_rows, draws, lanes, rows, prefetch,
                            [&](const auto& raw, uint32_t, uint64_t) { return add(raw); });
  };
  if constexpr (HalfElement<T>) {
    draw(RowPrefetch(parameters, sizeof(T), lanes.vector_rows_log2, drawn_rows.first,
                     item.first_column, lanes.lanes * lanes.kSize, kRows * lanes.rows));
  } else {
    draw(NoPrefetch{});
  }
}

// Adds the elements behind the last vector of rows, which are fewer than a vector.
template <class T>
__device__ inline void AddLastRows(const ReductionParameters& parameters,
                                   const ColumnLanes<T>& lanes, ColumnPairs<T>& pairs) {
  const uint64_t rows = parameters.group_size;
  const uint64_t first = (rows >> lanes.vector_rows_log2 << lanes.vector_rows_log2);
  const uint64_t count = (rows - first) * parameters.group_count;
  const T* const elements =
      static_cast<const T*>(parameters.elements) + first * parameters.group_count;
#pragma unroll
  for (uint32_t k = 0; k < ColumnPairs<T>::kSize; ++k) {
    if (k < count) pairs.AddOne(k, ToCompute(elements[k]));
  }
}

// Sums the turns of rows in pairs. `chain` is as in ColumnPairs::Add.
template <bool kInVectors, class T>
__device__ inline ColumnPairs<T> SumTurns(const Warp& warp, const ReductionParameters& parameters,
                                          const ColumnSumItem& item, const ColumnLanes<T>& lanes,
                                          uint64_t chain, uint32_t* turns_drawn) {
  ColumnPairs<T> pairs;
  AddTurns<kInVectors>(warp, parameters, item, lanes, turns_drawn,
                       [&](const auto& raw) { return pairs.Add(raw, item.rows_max, chain); });
  if (kInVectors && item.split == 0 && threadIdx.x == 0) AddLastRows(parameters, lanes, pairs);
  return pairs;
}

// The thread's share of what the splits of a tile left, and their range in all lanes.
template <class T>
__device__ inline ColumnPairs<T> SumSplits(const Warp& warp, const ReductionParameters& parameters,
                                           const ColumnWork& work, const ColumnSumItem& item,
                                           const ColumnLanes<T>& lanes) {
  const ColumnPartials<T> partials(parameters, work);
  ColumnPairs<T> pairs;
#pragma unroll 4
  for (uint64_t split = warp.thread_rank(); split < work.splits; split += warp.size()) {
    const uint2 range = __ldcg(&partials.ranges[split * work.tile_count + item.tile]);
    pairs.range.Merge({range.x, range.y});
  }
  const uint32_t parts = lanes.rows * warp.meta_group_size();
#pragma unroll 2
  for (uint64_t split = warp.meta_group_rank() * lanes.rows + lanes.row; split < work.splits;
       split += parts) {
#pragma unroll
    for (uint32_t k = 0; k < ColumnPairs<T>::kSize; ++k) {
      const uint64_t column = item.first_column + lanes.Column(k);
      if (column >= parameters.group_count) continue;
      const double2 pair = __ldcg(reinterpret_cast<const double2*>(
          &partials.pairs[split * parameters.group_count + column]));
      pairs.pairs[k].Merge({pair.x, pair.y});
    }
  }
  return pairs;
}

// Joins the pairs of a block's threads and calls take(column of the tile, sum, range) for each
// column, if they hold; returns whether they do. `count` as in PairHolds, `chain` without what is
// added here. Called by all threads, has a barrier, and another is needed before the next call.
template <class T, class F>
__device__ inline bool JoinColumns(const cg::thread_block& block, const Warp& warp,
                                   const ColumnLanes<T>& lanes, uint64_t count, uint64_t chain,
                                   ColumnPairs<T>& pairs, WarpPairs* warp_pairs,
                                   ColumnSumMemory& memory, F take) {
  const uint32_t warps = warp.meta_group_size();
  pairs.Close();
#pragma unroll 1
  for (uint32_t distance = lanes.lanes; distance < ReduceTuning::kWarpThreads; distance *= 2) {
#pragma unroll
    for (PairSum& pair : pairs.pairs) pair.Merge(PairOfLane(warp, pair, distance));
  }
  const MagnitudeRange warp_range = RangeOfWarp(pairs.range);
  if (lanes.row == 0) {
#pragma unroll
    for (uint32_t k = 0; k < ColumnPairs<T>::kSize; ++k) {
      warp_pairs[warp.meta_group_rank()][lanes.Column(k)] = {pairs.pairs[k].high,
                                                             pairs.pairs[k].low};
    }
  }
  if (warp.thread_rank() == 0) {
    memory.ranges[warp.meta_group_rank()] = {warp_range.largest, warp_range.smallest_less_one};
  }
  SyncBlock(block);
  MagnitudeRange range;
  for (uint32_t w = 0; w < warps; ++w) range.Merge({memory.ranges[w].x, memory.ranges[w].y});
  const uint64_t chain_after =
      chain + ReduceTuning::kWarpThreads + (warps << lanes.vector_rows_log2);
  if (!PairHolds(SpanBits<T>(range), count, chain_after)) return false;
  const uint32_t columns = lanes.columns();
  for (uint32_t c = block.thread_rank(); c < columns; c += static_cast<uint32_t>(block.size())) {
    PairSum sum;
    for (uint32_t row = 0; row < 1u << lanes.vector_rows_log2; ++row) {
#pragma unroll 4
      for (uint32_t w = 0; w < warps; ++w) {
        const double2 of_warp = warp_pairs[w][row * columns + c];
        sum.Merge({of_warp.x, of_warp.y});
      }
    }
    take(c, sum, range);
  }
  return true;
}

template <class T>
__global__ void __launch_bounds__(PairTuning::kColumnThreads)
    ReduceColumnSums(const __grid_constant__ ReductionParameters parameters,
                     const __grid_constant__ ColumnWork work) {
  __shared__ ColumnSumMemory memory;
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const ColumnLanes<T> lanes(parameters, warp.thread_rank(), work.tile_columns_log2, true);
  const ColumnPartials<T> partials(parameters, work);
  const uint32_t turn_rows = ColumnSumRowsInFlight(sizeof(T)) * lanes.rows
                             << lanes.vector_rows_log2;
  WarpPairs* const warp_pairs = reinterpret_cast<WarpPairs*>(BlockWords());
  const auto finish = [&](const ColumnSumItem& item) {
    return [&parameters, &item](uint32_t c, const PairSum& sum, const MagnitudeRange&) {
      const uint64_t column = item.first_column + c;
      if (column >= parameters.group_count) return;
      FinishPair<T>(parameters, column, parameters.group_size, sum);
    };
  };

#pragma unroll 1
  for (uint64_t i = blockIdx.x; i < work.tile_count * work.splits; i += gridDim.x) {
    const ColumnSumItem item(parameters, work, turn_rows, i);
    if (block.thread_rank() == 0) memory.turns_drawn = warp.meta_group_size();
    SyncBlock(block);
    // A warp may draw all turns, and add every row by itself.
    const uint64_t chain = item.rows_max / lanes.rows + ReduceTuning::kWarpThreads;
    uint32_t* const turns_drawn = &memory.turns_drawn;
    ColumnPairs<T> pairs = lanes.in_vectors
                               ? SumTurns<true>(warp, parameters, item, lanes, chain, turns_drawn)
                               : SumTurns<false>(warp, parameters, item, lanes, chain, turns_drawn);
    const bool is_split = work.splits > 1;
    const auto leave = [&](uint32_t c, const PairSum& sum, const MagnitudeRange& range) {
      const uint64_t column = item.first_column + c;
      if (c == 0) {
        partials.ranges[item.split * work.tile_count + item.tile] = {range.largest,
                                                                     range.smallest_less_one};
      }
      if (column >= parameters.group_count) return;
      partials.pairs[item.split * parameters.group_count + column] = sum;
    };
    const auto join = [&](uint64_t count, uint64_t chain_before, auto take) {
      return JoinColumns(block, warp, lanes, count, chain_before, pairs, warp_pairs, memory, take);
    };
    const bool holds =
        is_split ? join(item.rows_max, chain, leave) : join(item.rows_max, chain, finish(item));
    if (!holds) SumItemByStates<T>(parameters, work, item, turn_rows, memory.flags);
    if (is_split && IsLastBlock(block, &work.tickets[item.tile], work.splits, memory.drawn)) {
      pairs = SumSplits<T>(warp, parameters, work, item, lanes);
      if (!join(parameters.group_size, chain + work.splits, finish(item))) {
        FinishSplitsByStates<T>(parameters, work, item.tile, memory.flags);
      }
    }
    SyncBlock(block);  // Before shared memory is used again.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_SUMS_CUH_
