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

// A block's place in its work. In shared memory, since it is known to one thread and registers are
// needed by all.
struct BlockProgress {
  uint64_t turn;
  uint64_t item_index;
  BlockItem item;
  bool has_item;
  bool is_last;  // For IsLastBlock.
};

// Moves to the block's next item; returns whether there is one. Called by all threads, thread 0
// having set `turn` to 0 before the first call. What was known of the item before is overwritten.
__device__ inline bool NextItem(const cg::thread_block& block,
                                const ReductionParameters& parameters, const BlockWork& work,
                                BlockProgress& progress) {
  block.sync();
  if (block.thread_rank() == 0) {
    progress.item_index = work.queue == nullptr ? blockIdx.x + progress.turn * gridDim.x
                                                : atomicAdd(&work.queue->next_item, 1ull);
    progress.turn += 1;
    progress.has_item = progress.item_index < ItemCount(parameters, work);
    if (progress.has_item) progress.item = ItemAt(work, progress.item_index);
  }
  block.sync();
  return progress.has_item;
}

// Takes this block's share of an item's group: the blocks of a group read it together from front to
// back, each some vectors at a time, so that all are done at the same time.
template <class T, uint32_t kParts>
__device__ inline void AddChunk(const cg::thread_block& block,
                                const ReductionParameters& parameters, const BlockItem& item,
                                Accumulator<T, kParts>& accumulator) {
  const uint32_t threads = static_cast<uint32_t>(block.size());
  const GroupRange range = RangeOf(parameters, item.group);
  AddRange<ReduceShapeOf<T>(kParts).vectors_in_flight>(
      static_cast<const T*>(parameters.elements) + range.begin, range.size,
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
  __shared__ BlockProgress progress;
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) progress.turn = 0;

  while (NextItem(block, parameters, work, progress)) {
    const BlockItem& item = progress.item;
    Accumulator<T, kParts> accumulator(WordsOf(block), parameters.rules.ignore_nan);
    AddChunk(block, parameters, item, accumulator);
    RegisterState<T, kParts> registers = accumulator.Close();
    JoinBlock(block, warp_states, registers);
    const bool has_partials = item.chunk_count > 1;
    if (has_partials) {
      BlockPartial<T, kParts>* const partials =
          static_cast<BlockPartial<T, kParts>*>(work.partials);
      StorePartial(block, registers, partials[progress.item_index]);
      if (!IsLastBlock(block, &work.tickets[item.ticket], item.chunk_count, progress.is_last)) {
        continue;
      }
      JoinPartials(block, warp_states, partials + item.first_item, item.chunk_count, registers);
    }
    if (block.thread_rank() == 0) {
      FinishBlock(parameters, item.group, RangeOf(parameters, item.group).size, registers,
                  FirstColumn(block), has_partials);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
