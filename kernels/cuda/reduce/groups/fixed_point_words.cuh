// A warp sums short groups that fixed point does not hold in words: groups with elements that are
// not finite, or too far apart.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_WORDS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/accumulate.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/finish_joined.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"

namespace gridfold::kernels::cuda {

// A lane's share of a group in words of its local memory.
template <class T>
__device__ inline RegisterState<T, kCorePartSet> AddToWords(const ReductionParameters& parameters,
                                                            const GroupRange& range, uint32_t rank,
                                                            uint32_t width,
                                                            const WordColumn& words) {
  Accumulator<T, kCorePartSet> accumulator(words, parameters.rules.ignore_nan);
  accumulator.Reset();
  AddRange(static_cast<const T*>(parameters.elements) + range.begin, range.size, rank, width,
           accumulator, [&](const VectorRange<T>& vectors) {
             return StridedTurns<ReduceTuning::kTileVectorsInFlight>(vectors, rank, width);
           });
  return accumulator.Close();
}

// Short groups from `first` on whatever their elements are, those whose bits are set in `lanes`: by
// a power of two of lanes each, which all have a group. Not inlined, as what follows: it is long
// and seldom needed.
template <class T>
__device__ __noinline__ void ReduceGroupsInWords(const ReductionParameters& parameters,
                                                 uint64_t first, uint32_t lanes) {
  constexpr uint32_t kParts = kCorePartSet;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const uint32_t count = static_cast<uint32_t>(__popc(lanes));
  uint32_t width = warp.size();
  while (width * count > warp.size()) width /= 2;
  const uint32_t place = warp.thread_rank() / width;
  const bool exists = place < count;
  const uint64_t group = first + __fns(lanes, 0, static_cast<int>(place) + 1);
  const GroupRange range = exists ? RangeOf(parameters, group) : GroupRange{0, 0};
  int64_t storage[MomentWordCount<T>(kParts)];
  const WordColumn words{storage, 1};
  const uint32_t rank = warp.thread_rank() % width;
  const RegisterState<T, kParts> registers = AddToWords<T>(parameters, range, rank, width, words);
  const ReductionState<T, kParts> state = JoinLanes<T, kParts>(warp, width, words, registers);
  if (exists && rank == 0) FinishGroup(parameters, group, range.size, state);
  warp.sync();
}

// A group by all lanes, which join and round together, in `room`, memory that the warp shares.
template <class T>
__device__ __noinline__ void ReduceGroupInWords(const ReductionParameters& parameters,
                                                uint64_t group, int64_t* room) {
  constexpr uint32_t kParts = kCorePartSet;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const uint32_t rank = warp.thread_rank();
  const GroupRange range = RangeOf(parameters, group);
  int64_t storage[MomentWordCount<T>(kParts)];
  const WordColumn words{storage, 1};
  RegisterState<T, kParts> registers = AddToWords<T>(parameters, range, rank, warp.size(), words);
  JoinWordsOfWarp<T, kParts>(warp, words, registers);
  MergeStatesOverWarp(warp, registers);
  MomentWords<T, kParts>::ForEach([&](auto kind, uint32_t first, auto) {
#pragma unroll
    for (uint32_t row = rank; row < kind.kCount; row += warp.size()) {
      const uint32_t word = row / warp.size();
      room[first + row] = word * warp.size() < kind.kUsed ? words[first + word] : 0;
    }
  });
  warp.sync();
  FinishJoined(warp, parameters, group, range.size, registers, room, false);
  warp.sync();
}

template <class T>
__device__ inline bool IsShortGroup(uint64_t size) {
  return size * sizeof(T) <= FixedPointTuning::kBytesPerLane;
}

// Groups from `first` on, those whose bits are set in `left`: short ones together, others one by
// one. Called by all lanes.
template <class T>
__device__ inline void ReduceLeftGroups(const ReductionParameters& parameters, uint64_t first,
                                        uint32_t left, bool are_short, int64_t* room) {
  if (are_short) {
    ReduceGroupsInWords<T>(parameters, first, left);
    return;
  }
#pragma unroll 1
  for (; left != 0; left &= left - 1) {
    const uint32_t place = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
    ReduceGroupInWords<T>(parameters, first + place, room);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_WORDS_CUH_
