// Sums of groups whatever their elements are, by a warp: several groups at a time, each by as many
// lanes as there are for it, in words of their own (reduce_words.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUP_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUP_WORDS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_join.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_shares.cuh"
#include "kernels/cuda/reduce_thread_words.cuh"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/cuda/shared_address.cuh"

namespace gridfold::kernels::cuda {

// Words of a warp's lanes in shared memory, by address: as a pointer it would come to functions
// that are not inlined without their knowing what memory it is.
struct WarpWords {
  static constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  static constexpr uint32_t kBytes = kLanes * kSingleSumWords * sizeof(int64_t);
  uint32_t address;

  // In the block's dynamic shared memory.
  __device__ static WarpWords Of(const Warp& warp) {
    return {SharedAddress(BlockWords()) + warp.meta_group_rank() * kBytes};
  }
  __device__ WordColumn OfLane(uint32_t lane) const {
    return {static_cast<int64_t*>(__cvta_shared_to_generic(address)) + lane, kLanes};
  }
};

// Adds the share of thread `rank` of `threads` to words: as many elements as they take, at most.
template <class T>
__device__ inline void AddShareToWords(WordColumn words, const T* elements, uint32_t count,
                                       uint32_t rank, uint32_t threads) {
  constexpr uint32_t kInFlight = PairTuning::kWordVectorsInFlight;
  using Words = SingleWords<T>;
  const GroupShare<T, kInFlight> share{elements, count};
  uint4 raw[kInFlight];
#pragma unroll 1
  for (auto vectors = share.Vectors(rank, threads); vectors.left > 0; vectors = vectors.Rest()) {
    vectors.Load(raw);
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      if (!vectors.Has(k)) break;
#pragma unroll
      for (const float x : BatchOf<T>(raw[k]).values) Words::Add(words, x);
    }
  }
  const uint32_t head = share.Head();
  const uint32_t tail = head + share.VectorCount() * share.kSize;
#pragma unroll 1
  for (uint32_t i = rank; i < head; i += threads) Words::Add(words, ToCompute(elements[i]));
#pragma unroll 1
  for (uint32_t i = tail + rank; i < count; i += threads) Words::Add(words, ToCompute(elements[i]));
}

// Sums the groups of some lanes, of 2^width_log2 lanes each: group `first` is that of the first of
// them, and a group's bit in `lanes` is that of its first lane. They are short, or there is but one
// that the words of a warp take. Called by all lanes; not inlined: it is long and seldom needed.
template <class T>
__device__ __noinline__ void SumGroupsInWords(const ReductionParameters& parameters,
                                              WarpWords warp_words, uint64_t first, uint32_t lanes,
                                              uint32_t width_log2) {
  using Words = SingleWords<T>;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const WordColumn words = warp_words.OfLane(warp.thread_rank());
  const uint32_t count = static_cast<uint32_t>(__popc(lanes));
  // A power of two of lanes for each.
  uint32_t sharers = ReduceTuning::kWarpThreads;
  while (sharers * count > ReduceTuning::kWarpThreads) sharers /= 2;
  const uint32_t place = warp.thread_rank() / sharers;
  const uint32_t rank = warp.thread_rank() % sharers;
  const bool exists = place < count;
  const uint64_t group = first + (__fns(lanes, 0, static_cast<int>(place) + 1) >> width_log2);
  const GroupRange range = exists ? RangeOf(parameters, group) : GroupRange{0, 0};
  Words::Reset(words);
  AddShareToWords<T>(words, static_cast<const T*>(parameters.elements) + range.begin,
                     static_cast<uint32_t>(range.size), rank, sharers);
  WordReader<T> reader;
  auto sum = SumOfIntegers<T>([&](uint32_t i) {
    const int64_t mine = reader.Read(words, i);
    if (sharers < ReduceTuning::kWarpThreads) return SumOfLanes(warp, sharers, mine);
    return static_cast<int64_t>(SumOfWarp(static_cast<uint64_t>(mine)));
  });
  uint32_t flags = reader.flags();
#pragma unroll 1
  for (uint32_t distance = sharers / 2; distance > 0; distance /= 2) {
    flags |= warp.shfl_xor(flags, distance);
  }
  sum.AddFlags(flags);
  if (exists && rank == 0) FinishExactSum<T>(parameters, group, range.size, sum);
  warp.sync();
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUP_WORDS_CUH_
