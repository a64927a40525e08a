// The general kernel for short groups reduces each by 1 to 32 lanes of a warp, by any statistics.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_TILES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_TILES_CUH_

#include <cstdint>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/core/accumulate.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/finish_joined.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"

namespace gridfold::kernels::cuda {

// Leaves a segment to the block kernel. Where it comes to stand in the queue differs from run to
// run; the queue's users look a segment's items up, so results do not.
__device__ inline void QueueSegment(const TileWork& work, uint64_t group, uint64_t size) {
  const uint32_t chunks = static_cast<uint32_t>(CeilDivide(size, work.chunk_elements));
  const unsigned long long before =
      atomicAdd(&work.queue->segments_and_items, (1ull << 32) + chunks);
  work.long_segments[before >> 32] = {group, static_cast<uint32_t>(before), chunks};
}

// Finishes a group that a block of one warp took: its lanes join and round together.
template <class T, uint32_t kParts>
__device__ inline void FinishTileOfWarp(const cg::thread_block& block, const Warp& warp,
                                        const ReductionParameters& parameters, uint64_t group,
                                        uint64_t size, RegisterState<T, kParts> registers) {
  JoinWordsOfWarp<T, kParts>(warp, WordsOf(block), registers);
  MergeStatesOverWarp(warp, registers);
  warp.sync();
  JoinWarps<T, kParts>(block, warp);
  FinishJoined(warp, parameters, group, size, registers, JoinedWordsOf(block), false);
  warp.sync();  // Before words are used again.
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(ReduceShapeOf<T>(kParts).threads,
                                  ReduceShapeOf<T>(kParts).resident_blocks)
    ReduceTiles(const __grid_constant__ ReductionParameters parameters,
                const __grid_constant__ TileWork work) {
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const uint32_t width = 1u << work.width_log2;
  const uint32_t tiles_per_warp = ReduceTuning::kWarpThreads >> work.width_log2;
  const uint32_t rank = warp.thread_rank() & (width - 1);
  const uint64_t warp_index =
      static_cast<uint64_t>(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank();
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * warp.meta_group_size() * tiles_per_warp;
  const WordColumn words = WordsOf(block);
  Accumulator<T, kParts> accumulator(words, parameters.rules.ignore_nan);

  // All lanes make the same number of turns, so that they meet in JoinLanes.
  for (uint64_t first = warp_index * tiles_per_warp; first < parameters.group_count;
       first += step) {
    const uint64_t group = first + (warp.thread_rank() >> work.width_log2);
    const bool exists = group < parameters.group_count;
    const GroupRange range = exists ? RangeOf(parameters, group) : GroupRange{0, 0};
    const bool is_long = range.size > work.group_elements_max;
    accumulator.Reset();
    if (!is_long) {
      AddRange(static_cast<const T*>(parameters.elements) + range.begin, range.size, rank, width,
               accumulator, [&](const VectorRange<T>& vectors) {
                 return StridedTurns<ReduceTuning::kTileVectorsInFlight>(vectors, rank, width);
               });
    }
    const RegisterState<T, kParts> registers = accumulator.Close();
    if constexpr (RegisterState<T, kParts>::kHasWords) {
      if (tiles_per_warp == 1 && warp.meta_group_size() == 1 && !is_long) {
        FinishTileOfWarp(block, warp, parameters, group, range.size, registers);
        continue;
      }
    }
    const ReductionState<T, kParts> state = JoinLanes<T, kParts>(warp, width, words, registers);
    if (!exists || rank != 0) continue;
    if (is_long) {
      QueueSegment(work, group, range.size);
    } else {
      FinishGroup(parameters, group, range.size, state);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_TILES_CUH_
