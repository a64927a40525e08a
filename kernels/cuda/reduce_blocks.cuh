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

__device__ inline BlockItem ItemAt(const ReductionParameters& parameters, const BlockWork& work,
                                   uint64_t item) {
  if (work.queue == nullptr) {
    const uint64_t group = parameters.group_count == 1 ? 0 : item / work.chunks_per_group;
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
  uint32_t turns_drawn;  // Of the item's, by the block's warps: LoadedTurns.
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
    progress.turns_drawn = block.size() / ReduceTuning::kWarpThreads;
    progress.has_item = progress.item_index < ItemCount(parameters, work);
    if (progress.has_item) progress.item = ItemAt(parameters, work, progress.item_index);
  }
  block.sync();
  return progress.has_item;
}

// Takes this block's share of an item's group: the blocks of a group read it together from front to
// back, so that all are done at the same time. Where one turn of all threads does for the group,
// all threads have a part in it.
template <class T, uint32_t kParts>
__device__ inline void AddChunk(const Warp& warp, const ReductionParameters& parameters,
                                BlockProgress& progress,
                                Accumulator<T, kParts, true>& accumulator) {
  constexpr uint32_t kInFlight = BlockShapeOf<T>(kParts).vectors_in_flight;
  const BlockItem& item = progress.item;
  const uint32_t rank = item.chunk * blockDim.x + threadIdx.x;
  const uint32_t threads = item.chunk_count * blockDim.x;
  const GroupRange group = RangeOf(parameters, item.group);
  AddRange(static_cast<const T*>(parameters.elements) + group.begin, group.size, rank, threads,
           accumulator, [&](const VectorRange<T>& range) {
             if (range.count <= uint64_t{threads} * kInFlight) {
               return StridedTurns<kInFlight>(range, rank, threads);
             }
             return DrawnTurns<kInFlight>(range, warp, item.chunk, item.chunk_count,
                                          &progress.turns_drawn);
           });
}

// Finishes a group from what thread 0 of the block has, the words being in the first column, or as
// halves in the first two. Called by the first warp; not inlined, since it is long and runs once.
template <class T, uint32_t kParts>
__device__ __noinline__ void FinishBlock(const Warp& warp, const ReductionParameters& parameters,
                                         uint64_t group, uint64_t size,
                                         const RegisterState<T, kParts>& registers,
                                         WordColumn words, bool has_halves) {
  constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  [[maybe_unused]] const auto integer = [&](uint32_t i) -> Int128 {
    const int64_t* const row = &words[i];
    return has_halves ? Int128{row[0]} + (Int128{row[1]} << 32) : Int128{row[0]};
  };
  // One thread makes the state; the warp spares it looking at words that are 0.
  constexpr uint32_t kListColumn = 2;
  [[maybe_unused]] uint32_t count = 0;
  if constexpr (kWords != 0) {
    for (uint32_t first = 0; first < kWords; first += warp.size()) {
      const uint32_t i = first + warp.thread_rank();
      const bool is_used = i < kWords && integer(i) != 0;
      const uint32_t used = warp.ballot(is_used);
      const uint32_t before = __popc(used & ((1u << warp.thread_rank()) - 1));
      if (is_used) (&words[count + before])[kListColumn] = i;
      count += __popc(used);
    }
    warp.sync();
  }
  if (warp.thread_rank() != 0) return;
  const ReductionState<T, kParts> state =
      StateOf<T, kParts>(registers, [&](auto kind, uint32_t first, auto& sum) {
        for (uint32_t k = 0; k < count; ++k) {
          const uint32_t i = static_cast<uint32_t>((&words[k])[kListColumn]);
          if (i >= first && i < first + kind.kUsed) kind.AddTo(sum, i - first, integer(i));
        }
      });
  FinishGroup(parameters, group, size, state);
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(BlockShapeOf<T>(kParts).threads)
    ReduceBlocks(const __grid_constant__ ReductionParameters parameters,
                 const __grid_constant__ BlockWork work) {
  static_assert(kTotalIsAsPlanned<T, kParts>);
  constexpr uint32_t kSharers = WordSharersOf<T>(kParts);
  __shared__ WarpStates<RegisterState<T, kParts>> warp_states;
  __shared__ BlockProgress progress;
  static_assert(sizeof(warp_states) + sizeof(progress) <=
                ReduceTuning::kOtherSharedBytesOfBlocksMax);
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  if (block.thread_rank() == 0) progress.turn = 0;

  while (NextItem(block, parameters, work, progress)) {
    const BlockItem& item = progress.item;
    Accumulator<T, kParts, true> accumulator(WordsOf<kSharers>(block), parameters.rules.ignore_nan);
    if constexpr (kSharers > 1) block.sync();  // The others have reset their words too.
    AddChunk(warp, parameters, progress, accumulator);
    RegisterState<T, kParts> registers = accumulator.Close();
    JoinBlock(block, warp_states, registers);
    const bool is_shared = item.chunk_count > 1;
    if (is_shared) {
      GroupTotal<T, kParts>& total = static_cast<GroupTotal<T, kParts>*>(work.totals)[item.ticket];
      RegisterState<T, kParts>* const block_registers =
          static_cast<RegisterState<T, kParts>*>(work.block_registers);
      AddToTotal(block, registers, total, block_registers[progress.item_index]);
      if (!IsLastBlock(block, &total.ticket, item.chunk_count, progress.is_last)) continue;
      TakeTotal(block, warp_states, total, block_registers + item.first_item, item.chunk_count,
                registers);
    }
    if (warp.meta_group_rank() == 0) {
      FinishBlock(warp, parameters, item.group, RangeOf(parameters, item.group).size, registers,
                  FirstColumn<kSharers>(block), is_shared);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
