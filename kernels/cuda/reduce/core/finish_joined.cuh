// The statistics of a group are made of joined words here, by one warp or by all threads of a
// block.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_FINISH_JOINED_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_FINISH_JOINED_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/places.cuh"
#include "kernels/cuda/reduce/core/used_words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/scans/exact_rounding.h"

namespace gridfold::kernels::cuda {

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
  if (!parameters.AskForOnly(Statistic::kSum) || size == 0) return false;
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

// What finishes a group has in shared memory with words. Words are joined as
// JoinBlock or, in halves, TakeTotal left them.
template <class T, uint32_t kParts>
struct FinishRoom {
  static constexpr uint32_t kWords = MomentWordCount<T>(kParts);
  static constexpr uint32_t kMoments = std::popcount(kParts & kMomentParts);
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
  // Finds the used words from `first` on.
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
  // Finds the places of the extremes for which is_mine(0 or 1).
  template <class IsMine>
  __device__ void LocateExtremes(const Warp& warp, const TurnsOfGroup<T>& turns,
                                 IsMine is_mine) const {
    const auto locate = [&](auto& extreme) {
      const auto located = turns.Locate(warp, extreme);
      warp.sync();  // All lanes have read it.
      if (warp.thread_rank() == 0) extreme = located;
    };
    auto& extremes = group().state.template Part<kExtremesPart>();
    if (is_mine(0)) locate(extremes.min);
    if (is_mine(1)) locate(extremes.max);
  }
};

// Finishes a group. Called by one warp; not inlined, since it is long and runs once.
template <class T, uint32_t kParts>
__device__ __noinline__ void FinishJoined(const Warp& warp, const ReductionParameters& parameters,
                                          uint64_t group, uint64_t size,
                                          const RegisterState<T, kParts>& registers,
                                          int64_t* joined, bool has_halves) {
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

// Finishes a group by all warps, a warp for a moment or an extreme, and then a thread of each for a
// statistic: statistics of long numbers take longest.
template <class T, uint32_t kParts>
__device__ inline void FinishJoinedByWarps(const cg::thread_block& block, const Warp& warp,
                                           const ReductionParameters& parameters, uint64_t group,
                                           const TurnsOfGroup<T>& turns,
                                           const RegisterState<T, kParts>& registers,
                                           int64_t* joined, bool has_halves) {
  using Room = FinishRoom<T, kParts>;
  const Room room{joined, has_halves};
  const uint32_t rank = warp.meta_group_rank();
  const uint32_t warps = warp.meta_group_size();
  if (block.thread_rank() == 0) room.Begin(registers);
  SyncBlock(block);
  const auto is_mine = [&](uint32_t i) { return i % warps == rank; };
  room.AddMoments(warp, is_mine);
  if constexpr ((kParts & kExtremesPart) != 0) {
    room.LocateExtremes(warp, turns, [&](uint32_t i) { return is_mine(Room::kMoments + i); });
  }
  SyncBlock(block);
  if (warp.thread_rank() == 0) {
    FinishGroup(parameters, group, turns.count, room.group().state, rank, warps);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_FINISH_JOINED_CUH_
