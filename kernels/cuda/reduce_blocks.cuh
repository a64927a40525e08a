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

// Takes this block's share of an item's group: the blocks of a group read it together from front to
// back, each some vectors at a time, so that all are done at the same time.
template <class T, uint32_t kParts>
__device__ inline void AddChunk(const cg::thread_block& block,
                                const ReductionParameters& parameters, const GroupRange& range,
                                const BlockItem& item, Accumulator<T, kParts>& accumulator) {
  const uint32_t threads = static_cast<uint32_t>(block.size());
  AddRange<ReduceShapeOf<T>(kParts).vectors_in_flight>(
      static_cast<const T*>(parameters.elements) + range.begin, range.size, 0,
      item.chunk * threads + block.thread_rank(), item.chunk_count * threads, accumulator);
}

template <class T, uint32_t kParts>
__device__ __noinline__ void FinishBlock(const ReductionParameters& parameters, uint64_t group,
                                         uint64_t size, const RegisterState<T, kParts>& registers,
                                         WordColumn words, bool has_halves) {
  const ReductionState<T, kParts> state =
      StateOfWords<T, kParts>(registers, [&](uint32_t i) -> Int128 {
        const int64_t* const row = &words[i];
        return has_halves ? Int128{row[0]} + (Int128{row[1]} << 32) : Int128{row[0]};
      });
  FinishGroup(parameters, group, size, state);
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(ReduceShapeOf<T>(kParts).threads,
                                  ReduceShapeOf<T>(kParts).resident_blocks)
    ReduceBlocks(const __grid_constant__ ReductionParameters parameters,
                 const __grid_constant__ BlockWork work) {
  static_assert(kPartialIsAsPlanned<T, kParts>);
  __shared__ WarpStates<RegisterState<T, kParts>> warp_states;
  __shared__ unsigned long long shared_item;
  __shared__ bool shared_flag;
  const cg::thread_block block = cg::this_thread_block();
  BlockPartial<T, kParts>* const partials = static_cast<BlockPartial<T, kParts>*>(work.partials);
  const uint64_t item_count = ItemCount(parameters, work);
  Accumulator<T, kParts> accumulator(WordsOf(block), parameters.rules.ignore_nan);

  for (uint64_t turn = 0;; ++turn) {
    const uint64_t item_index = TakeItem(block, work, turn, shared_item);
    if (item_index >= item_count) return;
    const BlockItem item = ItemAt(work, item_index);
    const GroupRange range = RangeOf(parameters, item.group);
    const bool has_partials = item.chunk_count > 1;

    if (turn > 0) accumulator.Reset();
    AddChunk(block, parameters, range, item, accumulator);
    RegisterState<T, kParts> registers = accumulator.Close();
    JoinBlock(block, warp_states, registers);
    if (has_partials) {
      StorePartial(block, registers, partials[item_index]);
      if (!IsLastBlock(block, &work.tickets[item.ticket], item.chunk_count, shared_flag)) continue;
      JoinPartials(block, warp_states, partials + item.first_item, item.chunk_count, registers);
    }
    if (block.thread_rank() == 0) {
      FinishBlock(parameters, item.group, range.size, registers, FirstColumn(block), has_partials);
    }
    block.sync();  // Before the first two columns of words are used again.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
