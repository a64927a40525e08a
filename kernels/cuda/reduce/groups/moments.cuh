// A warp makes several statistics of a group whatever its elements are, in words of float64 that
// some lanes share (reduce/core/piece_words.cuh), which also hold floats and halves.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_MOMENTS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/finish_joined.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/registers.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

struct GroupMomentWords {
  static constexpr uint32_t kParts = kCorePartSet;
  using Words = MomentWords<double, kParts>;
  using Finish = FinishRoom<double, kParts>;
  static constexpr uint32_t kColumns = 4;
  static constexpr uint32_t kColumnLanes = ReduceTuning::kWarpThreads / kColumns;
  static constexpr uint32_t kWords = Words::kCount;
  // Elements of a lane between two times that words are settled.
  static constexpr uint32_t kBatch = 64;
  static_assert(kBatch * kColumnLanes <= kPieceAdditionsMax);
  // A warp's shared memory: words, and then what finishes the group.
  static constexpr uint32_t kColumnBytes = kColumns * kWords * sizeof(int64_t);
  static constexpr uint32_t kFinishBytes =
      3 * kWords * sizeof(int64_t) + sizeof(typename Finish::Group);
  static constexpr uint32_t kBytes = kColumnBytes > kFinishBytes ? kColumnBytes : kFinishBytes;
};

// Adds an element to a lane's registers and its column.
__device__ inline void AddToColumn(double x, uint64_t i, bool ignore_nan, const WordColumn& words,
                                   RegisterState<double, kCorePartSet>& registers) {
  using Words = GroupMomentWords::Words;
  registers.Add(x, i, ignore_nan);
  if (ignore_nan && x != x) return;
  registers.flags.sum |= ExactSumFlagsOf(x);
  // A finite number's square is one, also where a double does not hold it.
  registers.flags.squares |= IsFinite(x) ? kSawOtherThanNegativeZero : ExactSumFlagsOf(x * x);
  if (!IsFinite(x)) return;
  Words::SumWords::AddNumber(words.From(Words::kSumFirst), x);
  Words::SquareWords::AddSquare(words.From(Words::kSquaresFirst), x);
}

// Called by all lanes, with shared memory of the warp; not inlined: it is long and seldom needed.
template <class T>
__device__ __noinline__ void ReduceGroupMoments(const ReductionParameters& parameters,
                                                uint64_t group, int64_t* room) {
  using Group = GroupMomentWords;
  using Words = Group::Words;
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  const Warp warp = cg::tiled_partition<kLanes>(cg::this_thread_block());
  const uint32_t rank = warp.thread_rank();
  const GroupRange range = RangeOf(parameters, group);
  const T* const elements = static_cast<const T*>(parameters.elements) + range.begin;
  const WordColumn words{room + rank / Group::kColumnLanes, Group::kColumns};
#pragma unroll 4
  for (uint32_t i = rank; i < Group::kColumns * Group::kWords; i += kLanes) room[i] = 0;
  warp.sync();
  RegisterState<double, kCorePartSet> registers;
#pragma unroll 1
  for (uint64_t begin = 0; begin < range.size; begin += Group::kBatch * kLanes) {
    const uint64_t end = min(range.size, begin + Group::kBatch * kLanes);
#pragma unroll 1
    for (uint64_t i = begin + rank; i < end; i += kLanes) {
      AddToColumn(static_cast<double>(ToCompute(elements[i])), i, parameters.rules.ignore_nan,
                  words, registers);
    }
    warp.sync();
    if (end == range.size) break;
    Words::ForEach([&](auto kind, uint32_t first, auto) { kind.Settle(words.From(first)); });
    warp.sync();
  }
  MergeStatesOverWarp(warp, registers);
  // Joined words take the place of the columns.
  constexpr uint32_t kWordsOfLane = (Group::kWords + kLanes - 1) / kLanes;
  int64_t joined[kWordsOfLane];
  uint32_t unused = 0;
#pragma unroll
  for (uint32_t k = 0; k < kWordsOfLane; ++k) {
    const uint32_t i = k * kLanes + rank;
    joined[k] = 0;
#pragma unroll
    for (uint32_t column = 0; column < Group::kColumns && i < Group::kWords; ++column) {
      // Pieces of both moments are alike.
      joined[k] += Words::SumWords::Integer(i, room[i * Group::kColumns + column], unused);
    }
  }
  warp.sync();
#pragma unroll
  for (uint32_t k = 0; k < kWordsOfLane; ++k) {
    if (const uint32_t i = k * kLanes + rank; i < Group::kWords) room[i] = joined[k];
  }
  warp.sync();
  FinishJoined<double, kCorePartSet>(warp, parameters, group, range.size, registers, room, false);
  warp.sync();
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_MOMENTS_CUH_
