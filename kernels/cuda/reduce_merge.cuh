// Joining the states of threads: within a warp, within a block, and between the blocks of a group.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_MERGE_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_MERGE_CUH_

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

namespace cg = cooperative_groups;

using Warp = cg::thread_block_tile<ReduceTuning::kWarpThreads, cg::thread_block>;

// A barrier of the block. The lanes of a warp meet first: after code in which they part for long,
// as for elements of very different magnitudes, a barrier alone let warps pass some of whose lanes
// had not come (nvcc 13.0, capability 9.0; seen in sums of columns of float64).
__device__ inline void SyncBlock(const cg::thread_block& block) {
  __syncwarp();
  block.sync();
}

// Joins the states of each `width` neighbouring lanes; the first of them gets the result. All lanes
// of the warp take part; `width` is a power of two and the same in all of them.
//
// A loop over shuffles and not cg::reduce, so that one kernel serves every width, and not unrolled:
// the code of a step is long and its time is not felt.
template <class State>
__device__ inline void MergeLanes(const Warp& warp, uint32_t width, State& state) {
#pragma unroll 1
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
    state.ForEachPart([&](auto& part) { part.Merge(warp.shfl_xor(part, distance)); });
  }
}

// `kCount` states in shared memory, an odd number of alignments apart: then neighbouring threads'
// accesses fall in different banks.
template <class State, uint32_t kCount>
class SharedStates {
 public:
  __device__ State& operator[](uint32_t i) {
    return *reinterpret_cast<State*>(bytes_ + static_cast<size_t>(i) * kStrideBytes);
  }

 private:
  static constexpr size_t kStrideBytes = (sizeof(State) / alignof(State) | 1) * alignof(State);

  // Bytes, since shared memory cannot have constructors.
  alignas(State) std::byte bytes_[kCount * kStrideBytes];
};

template <class State>
using WarpStates = SharedStates<State, ReduceTuning::kWarpsMax>;

// Joins the states of a block; thread 0 gets the result. Called by all threads.
template <class State>
__device__ inline void MergeBlock(const cg::thread_block& block, WarpStates<State>& warp_states,
                                  State& state) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  MergeLanes(warp, ReduceTuning::kWarpThreads, state);
  if (warp.thread_rank() == 0) warp_states[warp.meta_group_rank()] = state;
  SyncBlock(block);
  if (warp.meta_group_rank() == 0) {
    const uint32_t warps = block.size() / ReduceTuning::kWarpThreads;
    state = warp.thread_rank() < warps ? warp_states[warp.thread_rank()] : State();
    MergeLanes(warp, ReduceTuning::kWarpThreads, state);
  }
  SyncBlock(block);  // Before warp_states is used again.
}

// Draws a number, counted from 0. Who draws a later one sees what was written before this.
__device__ inline uint32_t DrawTicket(uint32_t* ticket) {
  uint32_t drawn;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;" : "=r"(drawn) : "l"(ticket) : "memory");
  return drawn;
}

// Whether this block is the last of `count` that come here with the same ticket. What the others
// wrote before they came can then be read by every thread of this one. Called by all threads of
// each block; `shared_flag` is shared memory.
__device__ inline bool IsLastBlock(const cg::thread_block& block, uint32_t* ticket, uint32_t count,
                                   bool& shared_flag) {
  SyncBlock(block);
  if (block.thread_rank() == 0) {
    shared_flag = DrawTicket(ticket) == count - 1;  // For all threads, between the barriers.
    if (shared_flag) *ticket = 0;                   // For the next launch.
  }
  SyncBlock(block);
  return shared_flag;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_MERGE_CUH_
