// Long groups: cut into chunks, each reduced by a block; the last block of a group joins them.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_accumulate.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_join.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_used_words.cuh"
#include "kernels/numerics/exact_rounding.h"

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
  SyncBlock(block);
  if (block.thread_rank() == 0) {
    progress.item_index = work.queue == nullptr ? blockIdx.x + progress.turn * gridDim.x
                                                : atomicAdd(&work.queue->next_item, 1ull);
    progress.turn += 1;
    progress.turns_drawn = block.size() / ReduceTuning::kWarpThreads;
    progress.has_item = progress.item_index < ItemCount(parameters, work);
    if (progress.has_item) progress.item = ItemAt(parameters, work, progress.item_index);
  }
  SyncBlock(block);
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

// The sum of words that lie so close to each other that 128 bits hold it, as those of ordinary data
// do, in units of 2^unit. Returns whether they do. Called by all lanes of a warp.
template <class Words>
__device__ inline bool SumCloseWords(const Warp& warp, const UsedWords& used, Int128& sum,
                                     int& unit) {
  constexpr int kBits = 121;  // 32 addends, and the sign.
  sum = 0;
  unit = 0;
  if (used.count == 0) return true;
  if (used.count > warp.size()) return false;
  unit = Words::Unit(used.IndexOf(0));
  Int128 mine = 0;
  bool fits = true;
  if (warp.thread_rank() < used.count) {
    const uint32_t i = used.IndexOf(warp.thread_rank());
    const int shift = Words::Unit(i) - unit;
    mine = used.Integer(i);
    fits = shift < kBits && (mine >> (kBits - shift)) == (mine < 0 ? -1 : 0);
    if (fits) mine <<= shift;
  }
  if (!warp.all(fits)) return false;
#pragma unroll 1
  for (uint32_t k = 0; k < used.count; ++k) {
    const uint64_t low = warp.shfl(static_cast<uint64_t>(mine), k);
    const int64_t high = warp.shfl(static_cast<int64_t>(mine >> 64), k);
    sum += (Int128{high} << 64) + low;
  }
  return true;
}

// Finishes a group whose sum alone is asked for, if its words are close to each other; returns
// whether they are. It is what the end of a large sum waits for, and its code comes from memory.
template <class T>
__device__ inline bool FinishCloseSum(const Warp& warp, const ReductionParameters& parameters,
                                      uint64_t group, uint64_t size, uint32_t flags,
                                      const UsedWords& used) {
  if (parameters.statistic_count != 1 || parameters.statistics[0] != Statistic::kSum ||
      parameters.states != nullptr || size == 0) {
    return false;
  }
  Int128 sum;
  int unit;
  if (!SumCloseWords<typename MomentWords<T, kSumPart>::SumWords>(warp, used, sum, unit)) {
    return false;
  }
  const bool is_finite = warp.shfl(flags & kSawNan, 0) == 0;
  if (is_finite && warp.thread_rank() == 0) {
    const bool negative = sum < 0 || flags == 0;
    const double value = RoundOnce<double>(negative, {MagnitudeOfInteger(sum), unit, false});
    parameters.slots[parameters.rows[0] * parameters.group_count + group] =
        static_cast<uint64_t>(__double_as_longlong(value));
  }
  return is_finite;
}

// What a block has in shared memory while it finishes a group with words. Words are joined as
// JoinBlock or, in halves, TakeTotal left them.
template <class T, uint32_t kParts>
struct FinishRoom {
  static constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  struct Group {
    ReductionState<T, kParts> state;
    MomentFlags flags;
  };
  static_assert(alignof(Group) <= sizeof(int64_t));
  static_assert(3 * kWords * sizeof(int64_t) + sizeof(Group) <=
                kWords * ReduceTuning::kWarpThreads * sizeof(int64_t));

  int64_t* joined;
  bool has_halves;

  __device__ Group& group() const { return *reinterpret_cast<Group*>(joined + 3 * kWords); }
  // Of the words from `first` on.
  __device__ UsedWords FindUsed(const Warp& warp, uint32_t first, uint32_t words) const {
    return UsedWords::Find(warp, joined + first, words, has_halves ? kWords : 0,
                           joined + 2 * kWords + first);
  }

  // Takes what is not in words. Called by one thread.
  __device__ void Begin(const RegisterState<T, kParts>& registers) const {
    registers.AssignTo(group().state);
    group().flags = registers.flags;
  }
  // Then makes the sum of each moment for which is_mine(its number). Called by all lanes of a warp.
  template <class IsMine>
  __device__ void AddMoments(const Warp& warp, IsMine is_mine) const {
    uint32_t moment = 0;
    MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto part) {
      if (!is_mine(moment++)) return;
      auto& sum = group().state.template Part<part()>().sum;
      if (warp.thread_rank() == 0) {
        sum = {};
        sum.AddFlags(FlagsOf(group().flags, part));
      }
      const UsedWords used = FindUsed(warp, first, kind.kUsed);  // Lanes meet in it.
      if (sum.is_finite()) WriteLimbs(warp, used, kind, sum);
    });
  }
};

// Finishes a group. Called by the first warp; not inlined, since it is long and runs once.
template <class T, uint32_t kParts>
__device__ __noinline__ void FinishBlock(const Warp& warp, const ReductionParameters& parameters,
                                         uint64_t group, uint64_t size,
                                         const RegisterState<T, kParts>& registers, int64_t* joined,
                                         bool has_halves) {
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    using Room = FinishRoom<T, kParts>;
    const Room room{joined, has_halves};
    if constexpr (kParts == kSumPart) {
      const UsedWords used = room.FindUsed(warp, 0, Room::kWords);
      if (FinishCloseSum<T>(warp, parameters, group, size, registers.flags.sum, used)) return;
    }
    if (warp.thread_rank() == 0) room.Begin(registers);
    warp.sync();
    room.AddMoments(warp, [](uint32_t) { return true; });
    warp.sync();
    if (warp.thread_rank() == 0) FinishGroup(parameters, group, size, room.group().state);
  } else if (warp.thread_rank() == 0) {
    FinishGroup(parameters, group, size,
                StateOfWords<T, kParts>(registers, [](uint32_t) { return 0; }));
  }
}

// The same by all warps, a warp for a moment, and then a thread of each for a statistic: those of
// long numbers take longest.
template <class T, uint32_t kParts>
__device__ inline void FinishBlockByWarps(const cg::thread_block& block, const Warp& warp,
                                          const ReductionParameters& parameters, uint64_t group,
                                          uint64_t size, const RegisterState<T, kParts>& registers,
                                          int64_t* joined, bool has_halves) {
  const FinishRoom<T, kParts> room{joined, has_halves};
  const uint32_t rank = warp.meta_group_rank();
  const uint32_t warps = warp.meta_group_size();
  if (block.thread_rank() == 0) room.Begin(registers);
  SyncBlock(block);
  room.AddMoments(warp, [&](uint32_t moment) { return moment % warps == rank; });
  SyncBlock(block);
  if (warp.thread_rank() == 0) {
    FinishGroup(parameters, group, size, room.group().state, rank, warps);
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
  static_assert(sizeof(warp_states) + sizeof(progress) <=
                ReduceTuning::kOtherSharedBytesOfBlocksMax);
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  if (block.thread_rank() == 0) progress.turn = 0;

  while (NextItem(block, parameters, work, progress)) {
    const BlockItem& item = progress.item;
    Accumulator<T, kParts, true> accumulator(WordsOf<kSharers>(block), parameters.rules.ignore_nan);
    if constexpr (kSharers > 1) SyncBlock(block);  // The others have reset their words too.
    AddChunk(warp, parameters, progress, accumulator);
    RegisterState<T, kParts> registers = accumulator.Close();
    JoinBlock(block, warp, warp_states, registers);
    const bool is_first_warp = warp.meta_group_rank() == 0;
    const bool is_shared = item.chunk_count > 1;
    if (is_shared) {
      GroupTotal<T, kParts>& total = static_cast<GroupTotal<T, kParts>*>(work.totals)[item.ticket];
      RegisterState<T, kParts>* const block_registers =
          static_cast<RegisterState<T, kParts>*>(work.block_registers);
      if (is_first_warp) {
        AddToTotal(warp, JoinedWordsOf(block), registers, total,
                   block_registers[progress.item_index]);
      }
      if (!IsLastBlock(block, &total.ticket, item.chunk_count, progress.is_last)) continue;
      TakeTotal(block, warp, warp_states, total, block_registers + item.first_item,
                item.chunk_count, registers);
    }
    const uint64_t size = RangeOf(parameters, item.group).size;
    if constexpr (RegisterState<T, kParts>::kHasWords && kParts != kSumPart) {
      FinishBlockByWarps(block, warp, parameters, item.group, size, registers, JoinedWordsOf(block),
                         is_shared);
    } else if (is_first_warp) {
      FinishBlock(warp, parameters, item.group, size, registers, JoinedWordsOf(block), is_shared);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
