// Long groups: cut into chunks, each reduced by a block; the last block of a group joins them.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_BLOCKS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_accumulate.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_join.cuh"
#include "kernels/cuda/reduce_kernels.h"
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

// The words of a group that are not 0, in increasing order.
struct UsedWords {
  const int64_t* joined;  // As JoinBlock has them; with halves, those of TakeTotal.
  uint32_t halves_apart;  // 0 without halves.
  const int64_t* list;
  uint32_t count;

  __device__ uint32_t IndexOf(uint32_t k) const { return static_cast<uint32_t>(list[k]); }
  __device__ Int128 Integer(uint32_t i) const {
    if (halves_apart == 0) return joined[i];
    return Int128{joined[i]} + (Int128{joined[halves_apart + i]} << 32);
  }

  // Called by all lanes of a warp. The list is written behind the words.
  __device__ static UsedWords Find(const Warp& warp, int64_t* joined, uint32_t words,
                                   bool has_halves) {
    int64_t* const list = joined + 2 * words;
    UsedWords used{joined, has_halves ? words : 0, list, 0};
#pragma unroll 1
    for (uint32_t first = 0; first < words; first += warp.size()) {
      const uint32_t i = first + warp.thread_rank();
      const bool is_used = i < words && used.Integer(i) != 0;
      const uint32_t lanes = warp.ballot(is_used);
      const uint32_t before = __popc(lanes & ((1u << warp.thread_rank()) - 1));
      if (is_used) list[used.count + before] = i;
      used.count += __popc(lanes);
    }
    warp.sync();
    return used;
  }
};

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

// The state of a group from what thread 0 of the block has and its joined words, of which `used`
// spares it looking at those that are 0.
template <class T, uint32_t kParts>
__device__ inline ReductionState<T, kParts> StateOfUsed(const RegisterState<T, kParts>& registers,
                                                        const UsedWords& used) {
  return StateOf<T, kParts>(registers, [&](auto kind, uint32_t first, auto& sum) {
    // From the top, so that what is taken away later seldom borrows from limbs that are 0.
    for (uint32_t k = used.count; k-- > 0;) {
      const uint32_t i = used.IndexOf(k);
      if (i >= first && i < first + kind.kUsed) kind.AddTo(sum, i - first, used.Integer(i));
    }
  });
}

// Finishes a group. Called by the first warp; not inlined, since it is long and runs once.
template <class T, uint32_t kParts>
__device__ __noinline__ void FinishBlock(const Warp& warp, const ReductionParameters& parameters,
                                         uint64_t group, uint64_t size,
                                         const RegisterState<T, kParts>& registers, int64_t* joined,
                                         bool has_halves) {
  constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  [[maybe_unused]] UsedWords used{};
  if constexpr (kWords != 0) used = UsedWords::Find(warp, joined, kWords, has_halves);
  if constexpr (kWords != 0 && kParts == kSumPart) {
    const uint32_t flags = registers.flags.sum;
    if (FinishCloseSum<T>(warp, parameters, group, size, flags, used)) return;
  }
  if (warp.thread_rank() != 0) return;
  FinishGroup(parameters, group, size, StateOfUsed<T, kParts>(registers, used));
}

// The same by all warps, a thread of each for a statistic: those of long numbers take longest.
template <class T, uint32_t kParts>
__device__ inline void FinishBlockByWarps(const cg::thread_block& block, const Warp& warp,
                                          const ReductionParameters& parameters, uint64_t group,
                                          uint64_t size, const RegisterState<T, kParts>& registers,
                                          int64_t* joined, bool has_halves) {
  using State = ReductionState<T, kParts>;
  constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  constexpr uint32_t kStateFirst = 3 * kWords;  // Behind what UsedWords has.
  static_assert(alignof(State) <= sizeof(int64_t));
  static_assert(kStateFirst * sizeof(int64_t) + sizeof(State) <=
                kWords * ReduceTuning::kWarpThreads * sizeof(int64_t));
  State* const state = reinterpret_cast<State*>(joined + kStateFirst);
  if (warp.meta_group_rank() == 0) {
    const UsedWords used = UsedWords::Find(warp, joined, kWords, has_halves);
    if (warp.thread_rank() == 0) *state = StateOfUsed<T, kParts>(registers, used);
  }
  SyncBlock(block);
  if (warp.thread_rank() == 0) {
    FinishGroup(parameters, group, size, *state, warp.meta_group_rank(), warp.meta_group_size());
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
