// Long groups: cut into chunks, each reduced by a block; the last block of a group joins them.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_accumulate.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_join.cuh"
#include "kernels/cuda/reduce_kernels.h"

namespace gridfold::kernels::cuda {

// A chunk of a group, as a work item of a block.
struct BlockItem {
  uint64_t group;
  uint64_t first_item;  // Of the group.
  uint32_t chunk;       // Counted within the group.
  uint32_t chunk_count;
  uint64_t ticket;
};

__device__ inline uint64_t ItemCount(const ReductionParameters& parameters, const BlockWork& work) {
  if (work.queue != nullptr) return static_cast<uint32_t>(work.queue->segments_and_items);
  return parameters.group_count * work.chunks_per_group;
}

__device__ inline BlockItem ItemAt(const BlockWork& work, uint64_t item) {
  if (work.queue == nullptr) {
    const uint64_t group = item / work.chunks_per_group;
    const uint64_t first_item = group * work.chunks_per_group;
    return {group, first_item, static_cast<uint32_t>(item - first_item), work.chunks_per_group,
            group};
  }
  // The last segment whose first item is not behind `item`.
  uint64_t low = 0;
  uint64_t high = work.queue->segments_and_items >> 32;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (work.long_segments[middle].first_item <= item ? low : high) = middle;
  }
  const LongSegment& segment = work.long_segments[low];
  return {segment.group, segment.first_item, static_cast<uint32_t>(item - segment.first_item),
          segment.chunk_count, low};
}

// The item for this block's turn-th turn. Called by all threads; `shared_item` is shared memory,
// and a block-wide barrier stands between its use here and the next call.
__device__ inline uint64_t TakeItem(const cg::thread_block& block, const BlockWork& work,
                                    uint64_t turn, unsigned long long& shared_item) {
  if (work.queue == nullptr) return blockIdx.x + turn * gridDim.x;
  if (block.thread_rank() == 0) shared_item = atomicAdd(&work.queue->next_item, 1ull);
  block.sync();
  return shared_item;
}

template <class T, uint32_t kParts>
__device__ inline void AddChunk(const cg::thread_block& block,
                                const ReductionParameters& parameters, const GroupRange& range,
                                uint64_t chunk_begin, uint64_t chunk_elements,
                                Accumulator<T, kParts>& accumulator) {
  if (chunk_begin >= range.size) return;
  const uint64_t left = range.size - chunk_begin;
  AddRange<ReduceShapeOf<T>(kParts).vectors_in_flight>(
      static_cast<const T*>(parameters.elements) + range.begin + chunk_begin,
      left < chunk_elements ? left : chunk_elements, chunk_begin, block.thread_rank(),
      static_cast<uint32_t>(block.size()), accumulator);
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(ReduceShapeOf<T>(kParts).threads,
                                  ReduceShapeOf<T>(kParts).resident_blocks)
    ReduceBlocks(const __grid_constant__ ReductionParameters parameters,
                 const __grid_constant__ BlockWork work) {
  using State = ReductionState<T, kParts>;
  __shared__ WarpStates<RegisterState<T, kParts>> warp_states;
  __shared__ unsigned long long shared_item;
  __shared__ bool shared_flag;
  const cg::thread_block block = cg::this_thread_block();
  const uint32_t rank = block.thread_rank();
  State* const partials = static_cast<State*>(work.partials);
  const uint64_t item_count = ItemCount(parameters, work);
  Accumulator<T, kParts> accumulator(WordsOf(block), parameters.rules.ignore_nan);

  for (uint64_t turn = 0;; ++turn) {
    const uint64_t item_index = TakeItem(block, work, turn, shared_item);
    if (item_index >= item_count) return;
    const BlockItem item = ItemAt(work, item_index);
    const GroupRange range = RangeOf(parameters, item.group);

    accumulator.Reset();
    AddChunk(block, parameters, range, item.chunk * work.chunk_elements, work.chunk_elements,
             accumulator);
    State state;  // Of thread 0 only.
    JoinBlock(block, warp_states, accumulator.Close(), state);
    if (item.chunk_count > 1) {
      if (rank == 0) partials[item_index] = state;
      if (!IsLastBlock(block, &work.tickets[item.ticket], item.chunk_count, shared_flag)) continue;
      JoinPartials(block, warp_states, partials + item.first_item, item.chunk_count, state);
    }
    if (rank == 0) FinishGroup(parameters, item.group, range.size, state);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
