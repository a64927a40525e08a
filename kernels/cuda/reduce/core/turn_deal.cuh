// The warps of a grid share out the turns of a group by counters. Multiprocessors do not read
// equally fast: given as many turns each, the fastest of an H100 are done after three quarters of
// the time, and those that still read do not keep memory busy. So blocks take sixteen turns at a
// time from a counter in device memory, and the warps of a block draw these turns from a counter in
// shared memory.
//
// Example: 2 blocks of 2 warps, 4 turns at a time (here 16), 16 turns:
//
//   block 0 begins with turns 0-3, block 1 with turns 4-7; the counter stands at 8
//   block 1 is faster: it takes 8-11, and then 12-15; block 0 finds no more
//   within a block, whichever warp is done draws the next turn of these four
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURN_DEAL_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURN_DEAL_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/merge.cuh"

namespace gridfold::kernels::cuda {

// What a thread that may take no more has instead of a turn: behind the end of every array.
inline constexpr uint32_t kNoTurn = ~uint32_t{0};

// A block's share in the dealing of a group's turns, in shared memory. Turns are numbered over the
// group; each is drawn once, by one of the blocks that begin with the same numbers.
class TurnDeal {
 public:
  // Begins the dealing of `turns` turns to block `block` of `blocks`, whose warps take no more than
  // turns_max each; all blocks together can take all. `counter` is in device memory, and 0 when the
  // first block begins. Called by one thread, before a barrier.
  __device__ void Begin(uint64_t turns, uint32_t block, uint32_t blocks, uint32_t warps,
                        uint32_t turns_max, uint32_t* counter) {
    block_ = block;
    blocks_ = blocks;
    counter_ = turns < uint64_t{kBatchedMin} * warps * blocks ? nullptr : counter;
    if (counter_ == nullptr) {
      state_ = warps;
      return;
    }
    const uint32_t last = warps - 1;  // The last warp's first turn is in this one of its batches.
    const uint32_t begun = last / kBatch;
    state_ = (block + begun * blocks) * kPlaces + last % kBatch + 1;
    next_ = block + (begun + 1) * blocks;
    dealt_ = (begun + 2) * blocks;
    left_ = min(turns_max, kNoTurn / warps) * warps / kBatch - (begun + 2);
  }

  // Whether a counter is used; else every blocks-th turn is the block's.
  __device__ bool IsInBatches() const { return counter_ != nullptr; }

  // The turn that a warp begins with.
  __device__ uint32_t FirstOf(uint32_t warp) const {
    if (counter_ == nullptr) return warp * blocks_ + block_;
    return (block_ + warp / kBatch * blocks_) * kBatch + warp % kBatch;
  }

  // Draws the next, by one lane of a warp: a number for TurnOf.
  __device__ uint32_t Draw() { return DrawNumber(&state_); }
  // The turn that a number stands for, which may be behind the last. By all lanes of the warp that
  // drew it: what only one of them does takes as many instructions, and some to part and to meet.
  // `in_batches` is IsInBatches(), which takes long to ask where shared memory is busy.
  __device__ uint32_t TurnOf(uint32_t drawn, bool in_batches, uint32_t lane) {
    if (!in_batches) return drawn == kNoTurn ? kNoTurn : drawn * blocks_ + block_;
    const uint32_t turn = drawn % kPlaces;
    if (turn < kBatch) return drawn / kPlaces * kBatch + turn;
    if (drawn == kNoTurn) return kNoTurn;
    if (lane == 0) drawn = TurnOfLaterBatch(drawn);
    return __shfl_sync(~0u, drawn, 0);
  }

 private:
  // A batch is what takes a block some microseconds, in which the next is fetched. In the state
  // there is room for all warps that find it drawn.
  static constexpr uint32_t kBatch = 16;
  static constexpr uint32_t kPlaces = 64;
  static_assert(kBatch + ReduceTuning::kWarpsMax < kPlaces);
  // Fewer turns of a warp are dealt out in turn, without a counter.
  static constexpr uint32_t kBatchedMin = 8;
  // While a warp waits it leaves shared memory to others.
  static constexpr uint32_t kPauseNanoseconds = 100;
  static constexpr uint32_t kNotYet = ~uint32_t{0};
  static constexpr uint32_t kNone = kNoTurn / kPlaces;

  // The turn of a number behind those of the batch. Called by one lane.
  __device__ uint32_t TurnOfLaterBatch(uint32_t drawn) {
    for (;; drawn = Draw()) {
      const uint32_t turn = drawn % kPlaces;
      if (turn < kBatch) return drawn / kPlaces * kBatch + turn;
      if (turn == kBatch) return TakeBatch();
      // Another warp takes a batch.
      while (atomicOr_block(&state_, 0) % kPlaces > kBatch) __nanosleep(kPauseNanoseconds);
    }
  }

  // Begins the next batch, and fetches the one behind it, if the block may take that. One warp does
  // so at a time, from where `next_` is kNotYet to where it is known again.
  __device__ uint32_t TakeBatch() {
    uint32_t batch;
    while ((batch = atomicExch_block(&next_, kNotYet)) == kNotYet) __nanosleep(kPauseNanoseconds);
    atomicExch_block(&state_, batch * kPlaces + 1);
    const uint32_t left = atomicOr_block(&left_, 0);
    if (left > 0) atomicExch_block(&left_, left - 1);
    atomicExch_block(&next_, left > 0 ? dealt_ + atomicAdd(counter_, 1) : kNone);
    return batch * kBatch;
  }

  uint32_t* counter_;  // Of batches that blocks fetched; or null.
  uint32_t block_;
  uint32_t blocks_;
  uint32_t state_;  // The batch, times kPlaces, and turns drawn of it; or turns drawn.
  uint32_t next_;   // The batch behind it.
  uint32_t dealt_;  // Batches that blocks begin with.
  uint32_t left_;   // That the block may fetch still.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURN_DEAL_CUH_
