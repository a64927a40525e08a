// Blocks share out the rows of a tile of columns along axis 0: a block takes an item, some rows of
// the tile, of which its warps draw turns. Turns are dealt out to the items of a tile one by one,
// or sixteen at a time from a counter, so that blocks read rows that are near each other.
//
// Example: a tile of 12 turns of rows and 3 items, one by one:
//
//   item 0: turns 0 3 6 9      item 1: turns 1 4 7 10      item 2: turns 2 5 8 11
//   the last item to end joins what three have left of each column
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_ITEMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_ITEMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/columns/prefetch.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/turn_deal.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Some rows of a tile of columns: every turn of turn_rows whose number is `split` modulo `splits`.
struct ColumnSumItem {
  uint64_t tile;
  uint64_t split;
  uint64_t first_column;
  uint64_t first_row;
  uint64_t rows_left;  // From first_row on, of all splits.
  uint64_t turn_step;  // Rows from where a turn begins to where the next does.
  uint64_t rows_max;   // It has no more.

  __device__ ColumnSumItem(const ReductionParameters& parameters, const ColumnWork& work,
                           uint32_t turn_rows, uint64_t item)
      : tile(item % work.tile_count),
        split(item / work.tile_count),
        first_column(tile << work.tile_columns_log2),
        first_row(min(split * turn_rows, parameters.group_size)),
        rows_left(parameters.group_size - first_row),
        turn_step(uint64_t{work.splits} * turn_rows),
        rows_max(min(work.rows_per_split + turn_rows, parameters.group_size)) {}
};

// The rows of which warps draw turns: `count` rows from the array's `first` on, of which turns
// begin every `turn_step`.
struct DrawnRows {
  uint64_t first;
  uint64_t count;
  uint64_t turn_step;

  // A count of turns, since rows take longer to compare, and loads wait for that.
  __device__ uint32_t TurnCount() const {
    return static_cast<uint32_t>((count + turn_step - 1) / turn_step);
  }
};

// The counters of a tile's dealt batches, one for each of the warps side by side.
__device__ inline uint32_t* BatchesDealt(const ColumnWork& work, uint64_t tile) {
  return work.batches_dealt + tile * ColumnVectorTuning::kWarpsMax;
}

// How the warps of an item that take the same columns draw its turns, which are numbered over the
// item: in shared memory there is the next after those that they begin with.
class ItemDraws {
 public:
  using Shared = uint32_t;

  __device__ static DrawnRows RowsOf(const ReductionParameters&, const ColumnSumItem& item,
                                     uint32_t /*turn_rows*/) {
    return {item.first_row, item.rows_left, item.turn_step};
  }

  // Begins the draws of `warps` warps, by one thread, before a barrier: those at `side` of them
  // side by side, which take turns_max turns together at most.
  __device__ static void Begin(Shared& drawn, const ColumnWork&, const ColumnSumItem&,
                               const DrawnRows&, uint32_t /*side*/, uint32_t warps,
                               uint32_t /*turns_max*/) {
    drawn = warps;
  }

  // Draws for lane `lane` of warp `warp` of the warps that draw together.
  __device__ ItemDraws(Shared& drawn, uint32_t warp, uint32_t lane)
      : drawn_(&drawn), warp_(warp), lane_(lane) {}

  __device__ uint32_t First() const { return warp_; }
  // The next turn. Called by all lanes of a warp.
  __device__ uint32_t Next() const {
    uint32_t turn = 0;
    if (lane_ == 0) turn = DrawNumber(drawn_);
    return __shfl_sync(~0u, turn, 0);
  }
  // Leaves nothing to draw of `turns`.
  __device__ void Stop(uint32_t turns) const { atomicMax_block(drawn_, turns); }

 private:
  uint32_t* drawn_;
  uint32_t warp_;
  uint32_t lane_;
};

// Draws turns as ItemDraws does, but turns are numbered over the tile, and dealt out to all of its
// items.
class DealtDraws {
 public:
  using Shared = TurnDeal;

  __device__ static DrawnRows RowsOf(const ReductionParameters& parameters, const ColumnSumItem&,
                                     uint32_t turn_rows) {
    return {0, parameters.group_size, turn_rows};
  }

  __device__ static void Begin(Shared& deal, const ColumnWork& work, const ColumnSumItem& item,
                               const DrawnRows& rows, uint32_t side, uint32_t warps,
                               uint32_t turns_max) {
    deal.Begin(rows.TurnCount(), static_cast<uint32_t>(item.split), work.splits, warps,
               turns_max / warps, work.splits > 1 ? &BatchesDealt(work, item.tile)[side] : nullptr);
  }

  __device__ DealtDraws(Shared& deal, uint32_t warp, uint32_t lane)
      : deal_(deal), warp_(warp), lane_(lane), is_in_batches_(deal.IsInBatches()) {}

  __device__ uint32_t First() const { return deal_.FirstOf(warp_); }
  __device__ uint32_t Next() const {
    uint32_t drawn = 0;
    if (lane_ == 0) drawn = deal_.Draw();
    return deal_.TurnOf(__shfl_sync(~0u, drawn, 0), is_in_batches_, lane_);
  }
  // Never called: whoever stops does not hold all data, and leaves the tile.
  __device__ void Stop(uint32_t /*turns*/) const {}

 private:
  TurnDeal& deal_;
  uint32_t warp_;
  uint32_t lane_;
  bool is_in_batches_;
};

// How many rows, `apart` from each other, there are of kRows where `left` are left.
template <uint32_t kRows>
__device__ inline uint32_t RowsPresent(uint64_t left, uint32_t apart) {
  if (left > uint64_t{kRows - 1} * apart) return kRows;
  return (static_cast<uint32_t>(left) + apart - 1) / apart;
}

// The thread's share of rows: calls add(rows, turn, how many rows are left for it, `lanes.rows`
// apart) for turns of kRows rows a lane that its warp draws. Where that returns false, nothing is
// left to draw. `rows` loads rows, counted as `drawn_rows` are, and `prefetch` brings those of the
// turn that is drawn as many turns later as a block has warps. A warp takes kTurnsMax turns at
// most, if that is not 0; those that there are to draw are no more than all warps take.
template <uint32_t kRows, class Vector, uint32_t kTurnsMax = 0, class Draws, class Rows,
          class Lanes, class Prefetch, class F>
__device__ inline void DrawTurns(const Warp& warp, const DrawnRows& drawn_rows, const Draws& draws,
                                 const Lanes& lanes, const Rows& rows, const Prefetch& prefetch,
                                 F add) {
  const uint64_t row_count = drawn_rows.count;
  const uint64_t turn_step = drawn_rows.turn_step;
  const uint32_t turns = drawn_rows.TurnCount();
  const auto rows_left = [&](uint32_t turn) {
    const uint64_t row = turn * turn_step + lanes.row;
    return row < row_count ? row_count - row : 0;
  };
  const auto load = [&](uint32_t turn, uint64_t left, Vector(&raw)[kRows]) {
    rows.Load(turn * turn_step + lanes.row, lanes.rows, left, raw);
    const uint64_t later = (turn + warp.meta_group_size()) * turn_step;
    if (later + kRows * lanes.rows <= row_count) prefetch.Bring(later);
  };
  const auto has_turn = [&](uint32_t turn) { return turn < turns; };
  Vector ahead[kRows];
  uint32_t turn = draws.First();
  uint64_t left_ahead = rows_left(turn);
  uint32_t drawn = 1;
  if (has_turn(turn)) load(turn, left_ahead, ahead);
#pragma unroll 1
  while (has_turn(turn)) {
    Vector raw[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) raw[r] = ahead[r];
    const uint32_t taken = turn;
    const uint64_t left = left_ahead;
    turn = kTurnsMax > 0 && drawn++ == kTurnsMax ? turns : draws.Next();
    if (has_turn(turn)) {
      left_ahead = rows_left(turn);
      load(turn, left_ahead, ahead);
    }
    if (!add(raw, taken, left)) draws.Stop(turns);
  }
}

// Leaves a tile to ReduceColumns.
__device__ inline void LeaveTile(const ColumnWork& work, uint64_t tile) {
  work.left_tiles[0] = 1;
  work.left_tiles[1 + tile] = 1;
}
__device__ inline bool TileIsLeft(const ColumnWork& work, uint64_t tile) {
  return __ldcg(&work.left_tiles[1 + tile]) != 0;
}

// The tiles of the warps of a grid, of a warp's width each.
struct WarpTiles {
  uint64_t first = uint64_t{blockIdx.x} * (blockDim.x / ReduceTuning::kWarpThreads) +
                   threadIdx.x / ReduceTuning::kWarpThreads;
  uint64_t step = uint64_t{gridDim.x} * (blockDim.x / ReduceTuning::kWarpThreads);
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_ITEMS_CUH_
