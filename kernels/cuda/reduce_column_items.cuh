// The rows of a tile of columns along axis 0: a block takes an item, some rows of the tile, of
// which its warps draw turns. Turns are dealt out to the items of a tile one by one, so that blocks
// read what is near at the same time.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMN_ITEMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMN_ITEMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_prefetch.cuh"
#include "kernels/cuda/reduce_tuning.h"

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

// How many rows, `apart` from each other, there are of kRows where `left` are left.
template <uint32_t kRows>
__device__ inline uint32_t RowsPresent(uint64_t left, uint32_t apart) {
  if (left > uint64_t{kRows - 1} * apart) return kRows;
  return (static_cast<uint32_t>(left) + apart - 1) / apart;
}

// The thread's share of an item: calls add(rows, turn, how many rows are left for it, `lanes.rows`
// apart) for turns of kRows rows a lane that its warp draws, after the one that it begins with.
// Where that returns false, nothing is left to draw. `rows` loads rows of the item, and `prefetch`
// brings those of the turn that is drawn as many turns later as a block has warps. A warp takes
// kTurnsMax turns at most, if that is not 0; those of an item are no more than all warps take.
template <uint32_t kRows, class Vector, uint32_t kTurnsMax = 0, class Rows, class Lanes,
          class Prefetch, class F>
__device__ inline void DrawTurns(const Warp& warp, const ColumnSumItem& item, const Lanes& lanes,
                                 const Rows& rows, const Prefetch& prefetch, uint32_t turn,
                                 uint32_t* turns_drawn, F add) {
  const uint64_t row_count = item.rows_left;
  const uint64_t turn_step = item.turn_step;
  // A count of turns, since rows take longer to compare, and loads wait for that.
  const uint32_t turns = static_cast<uint32_t>((row_count + turn_step - 1) / turn_step);
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
    if (kTurnsMax > 0 && drawn++ == kTurnsMax) {
      turn = turns;
    } else {
      if (warp.thread_rank() == 0) turn = DrawNumber(turns_drawn);
      turn = warp.shfl(turn, 0);
    }
    if (has_turn(turn)) {
      left_ahead = rows_left(turn);
      load(turn, left_ahead, ahead);
    }
    if (!add(raw, taken, left)) atomicMax_block(turns_drawn, turns);
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

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMN_ITEMS_CUH_
