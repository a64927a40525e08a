// From what threads keep to the state of a group: words are joined across the threads that share
// it, and become exact sums.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_JOIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_JOIN_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_accumulate.cuh"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_moments.cuh"

namespace gridfold::kernels::cuda {

// Words of all threads of a block, in its dynamic shared memory: word i of thread t at i * columns
// + t % columns, where so many threads share a column.
template <uint32_t kSharers = 1>
__device__ inline WordColumn WordsOf(const cg::thread_block& block) {
  extern __shared__ int64_t block_words[];
  if constexpr (kSharers == 1) return {block_words + block.thread_rank(), block.size()};
  const uint32_t columns = WordColumnsOf(block.size(), kSharers);
  return {block_words + block.thread_rank() % columns, columns};
}

// Those of thread 0.
template <uint32_t kSharers>
__device__ inline WordColumn FirstColumn(const cg::thread_block& block) {
  const WordColumn mine = WordsOf<kSharers>(block);
  return {mine.first - block.thread_rank() % mine.stride, mine.stride};
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
      if constexpr (!kind.kIsInteger) {
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
      }
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

// The same from words: integer(i) gives the sum of word i over the threads of the group.
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

// The same from digits of 32 bits in place of the words.
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

// What the blocks of a group have in common while they work on it: a ticket, and the sums of their
// words. Zero before the first block comes, and again after the last.
template <class T, uint32_t kParts>
struct GroupTotal {
  static constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  uint32_t ticket;
  MomentFlags flags;
  // Lower and upper halves of words: sums of them do not overflow.
  unsigned long long halves[kWords == 0 ? 1 : kWords][2];
};
template <class T, uint32_t kParts>
inline constexpr bool kTotalIsAsPlanned =
    sizeof(GroupTotal<T, kParts>) == GroupTotalBytes(MomentWordCount<T>(kParts)) &&
    sizeof(RegisterState<T, kParts>) <=
        sizeof(ReductionState<T, kParts>) + ReduceTuning::kRegisterExtraBytes;

// Merges the registers of a block; thread 0 gets the result. Has a barrier before anything is
// merged. Called by all threads.
template <class T, uint32_t kParts>
__device__ inline void MergeRegisters(const cg::thread_block& block,
                                      WarpStates<RegisterState<T, kParts>>& warp_states,
                                      RegisterState<T, kParts>& registers) {
  using Registers = RegisterState<T, kParts>;
  if constexpr (Registers::kHasWords && Registers::Base::kParts == 0 && kParts == kSumPart) {
    // Nothing but the flags of one sum: barriers that vote are shorter than shuffles.
    uint32_t flags = 0;
    for (const uint32_t flag :
         {kSawPositiveInfinity, kSawNegativeInfinity, kSawOtherThanNegativeZero}) {
      if (__syncthreads_or((registers.flags.sum & flag) != 0 ? 1 : 0) != 0) flags |= flag;
    }
    registers.flags.sum = flags;
  } else {
    MergeBlock(block, warp_states, registers);
  }
}

// Joins the words of a block's threads, integers by now: the first column gets the sums of its
// rows. Begins with a barrier. Called by all threads.
template <class T, uint32_t kParts>
__device__ inline void JoinWords(const cg::thread_block& block) {
  constexpr uint32_t kRowsAtOnce = 4;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const WordColumn column = FirstColumn<WordSharersOf<T>(kParts)>(block);
  const uint32_t warps = warp.meta_group_size();
  block.sync();
  MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto) {
#pragma unroll 1
    for (uint32_t i = warp.meta_group_rank(); i < kind.kCount; i += kRowsAtOnce * warps) {
      int64_t sums[kRowsAtOnce] = {};
#pragma unroll 4
      for (uint32_t t = warp.thread_rank(); t < column.stride; t += ReduceTuning::kWarpThreads) {
#pragma unroll
        for (uint32_t r = 0; r < kRowsAtOnce; ++r) {
          const uint32_t row = i + r * warps;
          if (row < kind.kUsed) sums[r] += (&column[first + row])[t];
        }
      }
#pragma unroll
      for (uint32_t r = 0; r < kRowsAtOnce; ++r) {
        const uint32_t row = i + r * warps;
        if (row >= kind.kCount) continue;
        // Ordinary data fills few of the words.
        if (warp.any(sums[r] != 0)) {
          sums[r] = SumOfLanes(warp, ReduceTuning::kWarpThreads, sums[r]);
        }
        if (warp.thread_rank() == 0) column[first + row] = sums[r];
      }
    }
  });
}

// Joins what a block's threads closed: thread 0 gets the registers, and the first column of words
// the sums of its rows. Called by all threads, and ends with a barrier.
template <class T, uint32_t kParts>
__device__ inline void JoinBlock(const cg::thread_block& block,
                                 WarpStates<RegisterState<T, kParts>>& warp_states,
                                 RegisterState<T, kParts>& registers) {
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    CloseWords<T, kParts>(WordsOf<WordSharersOf<T>(kParts)>(block), registers);
    JoinWords<T, kParts>(block);
  }
  MergeRegisters(block, warp_states, registers);  // Which ends with a barrier.
}

// Adds what JoinBlock joined to the group's total, and leaves the registers beside it, if they are
// more than flags. Called by all threads.
template <class T, uint32_t kParts>
__device__ inline void AddToTotal(const cg::thread_block& block,
                                  const RegisterState<T, kParts>& registers,
                                  GroupTotal<T, kParts>& total,
                                  RegisterState<T, kParts>& block_registers) {
  if (block.thread_rank() == 0) {
    if constexpr (RegisterState<T, kParts>::Base::kParts != 0) {
      block_registers = registers;
    } else {
      total.flags.MergeAtomically(registers.flags);
    }
  }
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    const WordColumn column = FirstColumn<WordSharersOf<T>(kParts)>(block);
    for (uint32_t i = block.thread_rank(); i < total.kWords; i += block.size()) {
      const int64_t word = column[i];
      if (word == 0) continue;
      atomicAdd(&total.halves[i][0], static_cast<uint32_t>(word));
      atomicAdd(&total.halves[i][1], static_cast<unsigned long long>(word >> 32));
    }
  }
}

// Takes what `count` blocks added to a group's total, and clears it: thread 0 gets the registers,
// and the first two columns of words the halves of the sums. Called by all threads, and ends with a
// barrier.
template <class T, uint32_t kParts>
__device__ inline void TakeTotal(const cg::thread_block& block,
                                 WarpStates<RegisterState<T, kParts>>& warp_states,
                                 GroupTotal<T, kParts>& total,
                                 const RegisterState<T, kParts>* block_registers, uint32_t count,
                                 RegisterState<T, kParts>& registers) {
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    const WordColumn column = FirstColumn<WordSharersOf<T>(kParts)>(block);
    for (uint32_t i = block.thread_rank(); i < total.kWords; i += block.size()) {
      for (uint32_t half = 0; half < 2; ++half) {
        (&column[i])[half] = static_cast<int64_t>(__ldcg(&total.halves[i][half]));
        total.halves[i][half] = 0;
      }
    }
  }
  if constexpr (RegisterState<T, kParts>::Base::kParts != 0) {
    registers = RegisterState<T, kParts>();
    for (uint32_t i = block.thread_rank(); i < count; i += block.size()) {
      registers.Merge(block_registers[i]);
    }
    MergeBlock(block, warp_states, registers);
  } else {
    if (block.thread_rank() == 0) {
      registers.flags = total.flags;
      total.flags = {};
    }
    block.sync();
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_JOIN_CUH_
