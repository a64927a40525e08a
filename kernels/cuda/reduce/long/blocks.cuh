// Blocks reduce long groups: a group is cut into chunks, each reduced by a block, and the last
// block of a group joins them.
//
// Example: one group of 1,000 elements, chunks of 400:
//
//   blocks 0, 1 and 2 reduce elements 0-399, 400-799 and 800-999, and leave their states
//   each draws a ticket of the group; whoever draws the third joins three states and writes
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_LONG_BLOCKS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_LONG_BLOCKS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/accumulate.cuh"
#include "kernels/cuda/reduce/core/finish_joined.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/word_counts.h"

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
  TurnDeal deal;  // Of the turns of the item's group.
  bool has_item;
  uint32_t drawn;  // For IsLastBlock.
};

// Whether the turns of an item's group are drawn by warps: where one turn of all threads does for
// the group, all threads have a part in it.
template <uint32_t kInFlight, class T>
__device__ inline bool HasDrawnTurns(const VectorRange<T>& range, const BlockItem& item) {
  return range.count > uint64_t{item.chunk_count} * blockDim.x * kInFlight;
}

template <class T>
__device__ inline VectorRange<T> VectorsOf(const ReductionParameters& parameters,
                                           const BlockItem& item) {
  const GroupRange group = RangeOf(parameters, item.group);
  return {static_cast<const T*>(parameters.elements) + group.begin, group.size};
}

template <class T, uint32_t kParts>
__device__ inline GroupTotal<T, kParts>& TotalOf(const BlockWork& work, const BlockItem& item) {
  return static_cast<GroupTotal<T, kParts>*>(work.totals)[item.ticket];
}

// Begins the dealing of an item's turns. Called by one thread.
template <class T, uint32_t kParts>
__device__ inline void BeginDeal(const ReductionParameters& parameters, const BlockWork& work,
                                 BlockProgress& progress) {
  constexpr uint32_t kInFlight = BlockShapeOf<T>(kParts).vectors_in_flight;
  constexpr uint32_t kTurnsMax = Accumulator<T, kParts, true>::template kTurnsMax<kInFlight>;
  const BlockItem& item = progress.item;
  const uint64_t turns =
      VectorsOf<T>(parameters, item).count / kDrawnVectors<kInFlight>;  // Those that are full.
  uint32_t* const counter =
      item.chunk_count > 1 ? &TotalOf<T, kParts>(work, item).batches_dealt : nullptr;
  progress.deal.Begin(turns, item.chunk, item.chunk_count, blockDim.x / ReduceTuning::kWarpThreads,
                      kTurnsMax, counter);
}

// Moves to the block's next item; returns whether there is one. Called by all threads, thread 0
// having set `turn` to 0 before the first call. What was known of the item before is overwritten.
template <class T, uint32_t kParts>
__device__ inline bool NextItem(const cg::thread_block& block,
                                const ReductionParameters& parameters, const BlockWork& work,
                                BlockProgress& progress) {
  SyncBlock(block);
  if (block.thread_rank() == 0) {
    progress.item_index = work.queue == nullptr ? blockIdx.x + progress.turn * gridDim.x
                                                : atomicAdd(&work.queue->next_item, 1ull);
    progress.turn += 1;
    progress.has_item = progress.item_index < ItemCount(parameters, work);
    if (progress.has_item) {
      progress.item = ItemAt(parameters, work, progress.item_index);
      BeginDeal<T, kParts>(parameters, work, progress);
    }
  }
  SyncBlock(block);
  return progress.has_item;
}

// Takes this block's share of an item's group: the blocks of a group read it together from front to
// back, so that all are done at the same time.
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
             if (!HasDrawnTurns<kInFlight>(range, item)) {
               return StridedTurns<kInFlight>(range, rank, threads);
             }
             return DrawnTurns<kInFlight>(range, warp, progress.deal);
           });
}

// The turns of an item's group.
template <class T, uint32_t kParts>
__device__ inline TurnsOfGroup<T> TurnsOf(const ReductionParameters& parameters,
                                          const BlockItem& item) {
  constexpr uint32_t kInFlight = BlockShapeOf<T>(kParts).vectors_in_flight;
  const GroupRange group = RangeOf(parameters, item.group);
  const bool are_drawn = HasDrawnTurns<kInFlight>(VectorsOf<T>(parameters, item), item);
  return {static_cast<const T*>(parameters.elements) + group.begin, group.size,
          are_drawn ? kDrawnVectors<kInFlight> * kVectorSize<T> : 1, parameters.rules.ignore_nan};
}

// Finishes a block's own part of the only group there is, in its place and for nothing. The code
// that finishes a large group has long left the caches, or was never there, when the last block,
// for which all wait, comes to it. So a block that comes earlier brings it to L2: of so many, the
// one behind a quarter.
struct Rehearsal {
  ReductionParameters parameters;
  uint64_t slots[kStatisticCount];

  // Whether it is for this block, of which there are `count`, the `drawn`-th to come.
  __device__ static bool IsFor(uint32_t drawn, uint32_t count) {
    return count == gridDim.x && drawn == count / 4;
  }
  // Called by one thread.
  __device__ void Begin(const ReductionParameters& of_group) {
    parameters = of_group;
    parameters.group_count = 1;
    parameters.slots = slots;
    parameters.failures = nullptr;
    parameters.states = nullptr;
  }
};

// Finishes what an item's group, or the block's part of it, was joined to. Called by all threads.
template <class T, uint32_t kParts>
__device__ inline void FinishItem(const cg::thread_block& block, const Warp& warp,
                                  const ReductionParameters& parameters, uint64_t group,
                                  const TurnsOfGroup<T>& turns, RegisterState<T, kParts>& registers,
                                  bool has_halves) {
  int64_t* const joined = JoinedWordsOf(block);
  if constexpr (RegisterState<T, kParts>::kHasWords && kParts != kSumPart) {
    FinishJoinedByWarps(block, warp, parameters, group, turns, registers, joined, has_halves);
  } else if (warp.meta_group_rank() == 0) {
    if constexpr ((kParts & kExtremesPart) != 0) {
      auto& extremes = registers.template Part<kExtremesPart>();
      extremes.min = turns.Locate(warp, extremes.min);
      extremes.max = turns.Locate(warp, extremes.max);
    }
    FinishJoined(warp, parameters, group, turns.count, registers, joined, has_halves);
  }
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(BlockShapeOf<T>(kParts).threads)
    ReduceBlocks(const __grid_constant__ ReductionParameters parameters,
                 const __grid_constant__ BlockWork work) {
  static_assert(kTotalIsAsPlanned<T, kParts>);
  constexpr uint32_t kSharers = WordSharersOf<T>(kParts);
  __shared__ WarpStates<RegisterState<T, kParts>> warp_states;
  __shared__ BlockProgress progress;
  __shared__ Rehearsal rehearsal;
  static_assert(sizeof(warp_states) + sizeof(progress) + sizeof(rehearsal) <=
                ReduceTuning::kOtherSharedBytesOfBlocksMax);
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  if (block.thread_rank() == 0) progress.turn = 0;

  while (NextItem<T, kParts>(block, parameters, work, progress)) {
    const BlockItem& item = progress.item;
    Accumulator<T, kParts, true> accumulator(WordsOf<kSharers>(block), parameters.rules.ignore_nan);
    if constexpr (kSharers > 1) SyncBlock(block);  // The others have reset their words too.
    AddChunk(warp, parameters, progress, accumulator);
    RegisterState<T, kParts> registers = accumulator.Close();
    JoinBlock(block, warp, warp_states, registers);
    bool is_rehearsal = false;
    const bool is_shared = item.chunk_count > 1;
    if (is_shared) {
      GroupTotal<T, kParts>& total = TotalOf<T, kParts>(work, item);
      RegisterState<T, kParts>* const block_registers =
          static_cast<RegisterState<T, kParts>*>(work.block_registers);
      if (warp.meta_group_rank() == 0) {
        AddToTotal(warp, JoinedWordsOf(block), registers, total,
                   block_registers[progress.item_index]);
      }
      if (IsLastBlock(block, &total.ticket, item.chunk_count, progress.drawn)) {
        TakeTotal(block, warp, warp_states, total, block_registers + item.first_item,
                  item.chunk_count, registers);
      } else {
        is_rehearsal = Rehearsal::IsFor(progress.drawn, item.chunk_count);
        if (!is_rehearsal) continue;
        if (block.thread_rank() == 0) rehearsal.Begin(parameters);
        SyncBlock(block);
      }
    }
    FinishItem<T, kParts>(block, warp, is_rehearsal ? rehearsal.parameters : parameters,
                          is_rehearsal ? 0 : item.group, TurnsOf<T, kParts>(parameters, item),
                          registers, is_shared && !is_rehearsal);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_LONG_BLOCKS_CUH_
