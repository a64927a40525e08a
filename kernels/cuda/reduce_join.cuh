// From what threads keep to the state of a group: words are joined across the threads that share
// it, and become exact sums.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_JOIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_JOIN_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_accumulate.cuh"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_moments.cuh"

namespace gridfold::kernels::cuda {

// Words of all threads of a block, in its dynamic shared memory: word i of thread t at i * threads
// + t.
__device__ inline WordColumn WordsOf(const cg::thread_block& block) {
  extern __shared__ int64_t block_words[];
  return {block_words + block.thread_rank(), static_cast<uint32_t>(block.size())};
}

// Those of thread 0.
__device__ inline WordColumn FirstColumn(const cg::thread_block& block) {
  const WordColumn mine = WordsOf(block);
  return {mine.first - block.thread_rank(), mine.stride};
}

// The sum over the lanes of each `width` neighbours, in all of them.
__device__ inline int64_t SumOfLanes(const Warp& warp, uint32_t width, int64_t x) {
#pragma unroll 1
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) x += warp.shfl_xor(x, distance);
  return x;
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

// What a block leaves of its chunk for the last block of the group.
template <class T, uint32_t kParts>
struct BlockPartial {
  static constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  RegisterState<T, kParts> registers;
  int64_t words[kWords == 0 ? 1 : kWords];  // Joined across the block.
};
template <class T, uint32_t kParts>
inline constexpr bool kPartialIsAsPlanned =
    sizeof(BlockPartial<T, kParts>) <=
    sizeof(ReductionState<T, kParts>) + MomentWordCount<T>(kParts) * sizeof(int64_t) +
        ReduceTuning::kPartialExtraBytes;

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

// Joins what a block's threads closed: thread 0 gets the registers, and the first column of words
// the sums of its rows. Called by all threads, and ends with a barrier.
template <class T, uint32_t kParts>
__device__ inline void JoinBlock(const cg::thread_block& block,
                                 WarpStates<RegisterState<T, kParts>>& warp_states,
                                 RegisterState<T, kParts>& registers) {
  MergeRegisters(block, warp_states, registers);  // Has barriers: all words are written now.
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
    const WordColumn column = FirstColumn(block);
    MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto) {
      for (uint32_t i = warp.meta_group_rank(); i < kind.kUsed; i += warp.meta_group_size()) {
        int64_t* const row = &column[first + i];
        int64_t sum = 0;
        for (uint32_t t = warp.thread_rank(); t < block.size(); t += ReduceTuning::kWarpThreads) {
          sum += row[t];
        }
        // Ordinary data fills few of the words.
        if (warp.any(sum != 0)) sum = SumOfLanes(warp, ReduceTuning::kWarpThreads, sum);
        if (warp.thread_rank() == 0) row[0] = sum;
      }
    });
    block.sync();
  }
}

// Leaves what JoinBlock joined. Called by all threads.
template <class T, uint32_t kParts>
__device__ inline void StorePartial(const cg::thread_block& block,
                                    const RegisterState<T, kParts>& registers,
                                    BlockPartial<T, kParts>& partial) {
  if (block.thread_rank() == 0) partial.registers = registers;
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    const WordColumn column = FirstColumn(block);
    for (uint32_t i = block.thread_rank(); i < partial.kWords; i += block.size()) {
      partial.words[i] = column[i];
    }
  }
}

// Joins `count` partials: thread 0 gets the registers, and the first two columns of words the sums
// of the words' lower and upper halves, which do not overflow. Called by all threads, and ends with
// a barrier.
template <class T, uint32_t kParts>
__device__ inline void JoinPartials(const cg::thread_block& block,
                                    WarpStates<RegisterState<T, kParts>>& warp_states,
                                    const BlockPartial<T, kParts>* partials, uint32_t count,
                                    RegisterState<T, kParts>& registers) {
  registers = RegisterState<T, kParts>();
  for (uint32_t i = block.thread_rank(); i < count; i += block.size()) {
    registers.Merge(partials[i].registers);
  }
  MergeRegisters(block, warp_states, registers);
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    constexpr uint32_t kWords = MomentWordCount<T>(kParts);
    const uint32_t threads = static_cast<uint32_t>(block.size());
    // Neighbouring threads take neighbouring words; a team of them the next partial.
    const uint32_t teams = threads > kWords ? threads / kWords : 1;
    const WordColumn column = FirstColumn(block);
    for (uint32_t i = block.thread_rank(); i < teams * kWords; i += threads) {
      const uint32_t word = i % kWords;
      const uint32_t team = i / kWords;
      int64_t low = 0;
      int64_t high = 0;
#pragma unroll 16
      for (uint32_t p = team; p < count; p += teams) {
        const int64_t value = partials[p].words[word];
        low += static_cast<uint32_t>(value);
        high += value >> 32;
      }
      int64_t* const row = &column[word];
      row[2 * team] = low;
      row[2 * team + 1] = high;
    }
    block.sync();
    for (uint32_t word = block.thread_rank(); word < kWords; word += threads) {
      int64_t* const row = &column[word];
      for (uint32_t team = 1; team < teams; ++team) {
        row[0] += row[2 * team];
        row[1] += row[2 * team + 1];
      }
    }
    block.sync();
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_JOIN_CUH_
