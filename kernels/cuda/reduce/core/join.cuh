// Threads' words become the state of a group: words are joined across the threads that share the
// group, and become exact sums.
//
// Example: two threads, words in units of 1 and of 2^32:
//
//   thread 0 has {7, 2}, thread 1 has {5, 1}        joined: {12, 3}
//   the exact sum is 12 + 3 * 2^32, whichever thread met which element
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_JOIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_JOIN_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/registers.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"

namespace gridfold::kernels::cuda {

// A block's dynamic shared memory.
__device__ inline int64_t* BlockWords() {
  extern __shared__ __align__(16) int64_t block_words[];
  return block_words;
}

// Words of all threads of a block, in its dynamic shared memory: word i of thread t at i * columns
// + t % columns, where kSharers threads share a column. Columns are a warp's, or several.
template <uint32_t kSharers = 1>
__device__ inline WordColumn WordsOf(const cg::thread_block& block) {
  if constexpr (kSharers == 1) return {BlockWords() + block.thread_rank(), block.size()};
  const uint32_t columns = WordColumnsOf(block.size(), kSharers);
  return {BlockWords() + block.thread_rank() % columns, columns};
}

// What is joined of them, row after row, in place of the first.
__device__ inline int64_t* JoinedWordsOf(const cg::thread_block& block) {
  return WordsOf(block).first - block.thread_rank();
}

// The sum over the lanes of each `width` neighbours, in all of them.
__device__ inline int64_t SumOfLanes(const Warp& warp, uint32_t width, int64_t x) {
#pragma unroll 1
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) x += warp.shfl_xor(x, distance);
  return x;
}

// Makes integers of a thread's words.
template <class T, uint32_t kParts>
__device__ inline void CloseWords(const WordColumn& words, RegisterState<T, kParts>& registers) {
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto part) {
      constexpr uint32_t kTogether = 8;
      uint32_t flags = 0;
#pragma unroll 1
      for (uint32_t i = 0; i < kind.kUsed; i += kTogether) {
        int64_t loaded[kTogether];
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
          loaded[k] = i + k < kind.kUsed ? words[first + i + k] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
          if (i + k < kind.kUsed) words[first + i + k] = kind.Integer(i + k, loaded[k], flags);
        }
      }
      FlagsOf(registers.flags, part) |= flags;
    });
  }
}

// The state of a group, from registers that are merged and what fill(kind, first word, sum) adds to
// the sum of each moment. Called by one thread.
template <class T, uint32_t kParts, class Fill>
__device__ inline ReductionState<T, kParts> StateOf(RegisterState<T, kParts> registers, Fill fill) {
  ReductionState<T, kParts> state;
  registers.AssignTo(state);
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto part) {
      auto& sum = state.template Part<part()>().sum;
      sum.AddFlags(FlagsOf(registers.flags, part));
      if (sum.is_finite()) fill(kind, first, sum);
    });
  }
  return state;
}

// The state of a group from words: integer(i) gives the sum of word i over the threads of the
// group.
template <class T, uint32_t kParts, class Integer>
__device__ inline ReductionState<T, kParts> StateOfWords(const RegisterState<T, kParts>& registers,
                                                         Integer integer) {
  return StateOf<T, kParts>(registers, [&](auto kind, uint32_t first, auto& sum) {
#pragma unroll 1
    for (uint32_t i = 0; i < kind.kUsed; ++i) {
      const Int128 total = integer(first + i);
      if (total != 0) kind.AddTo(sum, i, total);
    }
  });
}

// The state of a group from digits of 32 bits in place of words.
template <class T, uint32_t kParts, class Integer>
__device__ inline ReductionState<T, kParts> StateOfDigits(const RegisterState<T, kParts>& registers,
                                                          Integer integer) {
  return StateOf<T, kParts>(registers, [&](auto kind, uint32_t first, auto& sum) {
    static_assert(std::remove_reference_t<decltype(sum)>::kDigits <= decltype(kind)::kCount);
    sum.AddDigits([&](int digit) { return integer(first + static_cast<uint32_t>(digit)); });
  });
}

// The state of the elements that the lanes of each `width` neighbours took, in the first of them.
// Called by all lanes of the warp.
template <class T, uint32_t kParts>
__device__ inline ReductionState<T, kParts> JoinLanes(const Warp& warp, uint32_t width,
                                                      WordColumn words,
                                                      RegisterState<T, kParts> registers) {
  CloseWords<T, kParts>(words, registers);
  MergeLanes(warp, width, registers);
  if constexpr (!RegisterState<T, kParts>::kHasWords) {
    return StateOfWords<T, kParts>(registers, [](uint32_t) { return 0; });
  } else {
    MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto) {
      if (width == 1) return;
#pragma unroll 1
      for (uint32_t i = first; i < first + kind.kUsed; ++i) {
        const int64_t mine = words[i];
        // Ordinary data fills few of the words.
        if (warp.any(mine != 0)) words[i] = SumOfLanes(warp, width, mine);
      }
    });
    return StateOfWords<T, kParts>(registers, [&](uint32_t i) { return words[i]; });
  }
}

// What the blocks of a group have in common while they work on it: a ticket, the counter of their
// TurnDeal, and the sums of their words. Zero before the first block comes, and again after the
// last.
template <class T, uint32_t kParts>
struct GroupTotal {
  static constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  uint32_t ticket;
  uint32_t batches_dealt;
  MomentFlags flags;
  // Lower and upper halves of words: sums of them do not overflow.
  alignas(16) unsigned long long halves[kWords == 0 ? 1 : kWords][2];
};
template <class T, uint32_t kParts>
inline constexpr bool kTotalIsAsPlanned =
    sizeof(GroupTotal<T, kParts>) == GroupTotalBytes(MomentWordCount<T>(kParts)) &&
    sizeof(RegisterState<T, kParts>) <=
        sizeof(ReductionState<T, kParts>) + ReduceTuning::kRegisterExtraBytes;

// Merges the registers of a block; thread 0 gets the result. Called by all threads; there is a
// barrier in it, and one is needed before `warp_states` is used again.
template <class T, uint32_t kParts>
__device__ inline void MergeRegisters(const cg::thread_block& block,
                                      WarpStates<RegisterState<T, kParts>>& warp_states,
                                      RegisterState<T, kParts>& registers) {
  using Registers = RegisterState<T, kParts>;
  if constexpr (Registers::kHasWords && Registers::Base::kParts == 0 && kParts == kSumPart) {
    // Nothing but the flags of one sum.
    const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
    const uint32_t flags = __reduce_or_sync(~0u, registers.flags.sum);
    if (warp.thread_rank() == 0) warp_states[warp.meta_group_rank()].flags.sum = flags;
    SyncBlock(block);
    if (warp.meta_group_rank() == 0) {
      const bool has_warp = warp.thread_rank() < warp.meta_group_size();
      registers.flags.sum =
          __reduce_or_sync(~0u, has_warp ? warp_states[warp.thread_rank()].flags.sum : 0u);
    }
  } else {
    MergeBlock(block, warp_states, registers);
  }
}

// Joins the words of a warp's lanes and makes integers of them. Row 32 * k + r of a moment then
// stands in its word k, of lane r: behind all rows that are still to be read. Called by all lanes;
// no other columns are touched, so that the warps that are done first do so while others read,
// unless these have the same columns.
template <class T, uint32_t kParts>
__device__ inline void JoinWordsOfWarp(const Warp& warp, const WordColumn& words,
                                       RegisterState<T, kParts>& registers) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint32_t kTogether = 8;
  static_assert(kLanes % kTogether == 0);
  MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto part) {
    uint32_t flags = 0;
#pragma unroll 1
    for (uint32_t begin = 0; begin < kind.kUsed; begin += kLanes) {
      uint32_t rows = 0;
#pragma unroll 1
      for (uint32_t r = 0; r < kLanes && begin + r < kind.kUsed; r += kTogether) {
        uint32_t used = 0;
#pragma unroll
        for (uint32_t k = 0; k < kTogether; ++k) {
          const uint32_t row = begin + r + k;
          used |= row < kind.kUsed && words[first + row] != kind.kUntouched ? 1u << k : 0;
        }
        rows |= used << r;
      }
      // Ordinary data fills few of the words.
      int64_t joined = 0;
#pragma unroll 1
      for (rows = __reduce_or_sync(~0u, rows); rows != 0; rows &= rows - 1) {
        const uint32_t r = static_cast<uint32_t>(__ffs(static_cast<int>(rows))) - 1;
        const int64_t mine = kind.Integer(begin + r, words[first + begin + r], flags);
        const uint64_t sum = SumOfWarp(static_cast<uint64_t>(mine));
        if (warp.thread_rank() == r) joined = static_cast<int64_t>(sum);
      }
      words[first + begin / kLanes] = joined;
    }
    FlagsOf(registers.flags, part) |= flags;
  });
}

// Joins what JoinWordsOfWarp left in all columns. Called by the first warp, after a barrier.
template <class T, uint32_t kParts>
__device__ inline void JoinWarps(const cg::thread_block& block, const Warp& warp) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  const WordColumn words = WordsOf<WordSharersOf<T>(kParts)>(block);
  int64_t* const joined = JoinedWordsOf(block);
  MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto) {
    constexpr uint32_t kWordsOfLane = (decltype(kind)::kUsed + kLanes - 1) / kLanes;
    int64_t sums[kWordsOfLane] = {};
#pragma unroll 8
    for (uint32_t w = 0; w < words.stride; w += kLanes) {
#pragma unroll
      for (uint32_t k = 0; k < kWordsOfLane; ++k) sums[k] += (&words[first + k])[w];
    }
    warp.sync();  // What is joined takes the place of what was read.
#pragma unroll
    for (uint32_t k = 0; k < kWordsOfLane; ++k) {
      const uint32_t row = k * kLanes + warp.thread_rank();
      if (row < kind.kCount) joined[first + row] = sums[k];
    }
  });
  warp.sync();
}

// Joins what a block's threads closed: thread 0 gets the registers, and the first warp the sums of
// the words' rows, in JoinedWordsOf. Called by all threads; a barrier is needed before what it uses
// is used again by other warps.
template <class T, uint32_t kParts>
__device__ inline void JoinBlock(const cg::thread_block& block, const Warp& warp,
                                 WarpStates<RegisterState<T, kParts>>& warp_states,
                                 RegisterState<T, kParts>& registers) {
  constexpr bool kHasWords = RegisterState<T, kParts>::kHasWords;
  if constexpr (kHasWords) {
    constexpr uint32_t kSharers = WordSharersOf<T>(kParts);
    if constexpr (kSharers > 1) SyncBlock(block);  // The others are done with what is read.
    const WordColumn words = WordsOf<kSharers>(block);
    if (block.thread_rank() < words.stride) JoinWordsOfWarp<T, kParts>(warp, words, registers);
  }
  MergeRegisters(block, warp_states, registers);  // Which has a barrier.
  if constexpr (kHasWords) {
    if (warp.meta_group_rank() == 0) JoinWarps<T, kParts>(block, warp);
  }
}

// Adds what JoinBlock joined to the group's total, and leaves the registers beside it, if they are
// more than flags. Called by the first warp.
template <class T, uint32_t kParts>
__device__ inline void AddToTotal(const Warp& warp, const int64_t* joined,
                                  const RegisterState<T, kParts>& registers,
                                  GroupTotal<T, kParts>& total,
                                  RegisterState<T, kParts>& block_registers) {
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    for (uint32_t i = warp.thread_rank(); i < total.kWords; i += warp.size()) {
      const int64_t word = joined[i];
      if (word == 0) continue;
      atomicAdd(&total.halves[i][0], static_cast<uint32_t>(word));
      atomicAdd(&total.halves[i][1], static_cast<unsigned long long>(word >> 32));
    }
  }
  if (warp.thread_rank() == 0) {
    if constexpr (RegisterState<T, kParts>::Base::kParts != 0) {
      block_registers = registers;
    } else {
      total.flags.MergeAtomically(registers.flags);
    }
  }
}

// Takes what `count` blocks added to a group's total, and clears it: thread 0 gets the registers,
// and the first warp the halves of the sums, the upper ones behind the lower; all warps do where
// there is more in registers than flags. Called by all threads.
template <class T, uint32_t kParts>
__device__ inline void TakeTotal(const cg::thread_block& block, const Warp& warp,
                                 WarpStates<RegisterState<T, kParts>>& warp_states,
                                 GroupTotal<T, kParts>& total,
                                 const RegisterState<T, kParts>* block_registers, uint32_t count,
                                 RegisterState<T, kParts>& registers) {
  using Registers = RegisterState<T, kParts>;
  constexpr bool kHasRegisters = Registers::Base::kParts != 0;
  if (block.thread_rank() == 0) total.batches_dealt = 0;
  if constexpr (Registers::kHasWords) {
    // The first warps have registers to take.
    const uint32_t taker = kHasRegisters ? warp.meta_group_size() - 1 : 0;
    if (warp.meta_group_rank() == taker) {
      const MomentFlags flags = total.flags;  // Under way together with the words.
      int64_t* const joined = JoinedWordsOf(block);
#pragma unroll 3
      for (uint32_t i = warp.thread_rank(); i < total.kWords; i += warp.size()) {
        ulonglong2* const halves = reinterpret_cast<ulonglong2*>(total.halves[i]);
        const ulonglong2 sums = __ldcg(halves);
        *halves = {0, 0};
        joined[i] = static_cast<int64_t>(sums.x);
        joined[total.kWords + i] = static_cast<int64_t>(sums.y);
      }
      warp.sync();
      if (!kHasRegisters && warp.thread_rank() == 0) {
        registers.flags = flags;
        total.flags = {};
      }
    }
  }
  if constexpr (kHasRegisters) {
    registers = Registers();
    for (uint32_t i = block.thread_rank(); i < count; i += block.size()) {
      registers.Merge(block_registers[i]);
    }
    MergeBlock(block, warp_states, registers);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_JOIN_CUH_
