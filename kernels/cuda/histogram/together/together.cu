#include <cooperative_groups.h>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/extremes.cuh"
#include "kernels/cuda/histogram/place/outcomes.cuh"
#include "kernels/cuda/histogram/place/sampler.cuh"
#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/together.h"
#include "kernels/cuda/histogram/together/team.cuh"
#include "kernels/numerics/bins/automatic_range.h"

namespace gridfold::kernels::cuda {

namespace {

// The extremes that lanes of a warp have, for all of them.
__device__ ExtremeKeys JoinLanes(ExtremeKeys keys) {
  for (uint32_t distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    keys.smallest = min(keys.smallest, __shfl_xor_sync(~0u, keys.smallest, distance));
    keys.largest = max(keys.largest, __shfl_xor_sync(~0u, keys.largest, distance));
  }
  return keys;
}

// The extremes of this block's samples, [bins], by way of what its warps find.
struct RangeSearch {
  ExtremeKeys of_warps[kHistogramWarps][kFewChannels];

  // All threads of the block: leaves the block's in block_keys.
  template <class T>
  __device__ void Find(const TogetherArguments& together) {
    const HistogramArguments& arguments = together.histogram;
    const BlockShare block = BlockShare::Of(1);
    // Not by the second array, which is nowhere where it is empty.
    const bool has_axes = together.bins_count > arguments.channel_count;
    const SampleWalk walk(arguments.sample_count, arguments.channel_count, block);
    const ExtremeKeys own = ExtremesOfThread(static_cast<const T*>(arguments.samples), walk);
    if (has_axes) {
      Note(1, ExtremesOfThread(static_cast<const T*>(arguments.y_samples), walk));
    }
    for (uint32_t c = 0; c < arguments.channel_count; ++c) {
      Note(c, walk.channel == c ? own : ExtremeKeys{});
    }
    __syncthreads();
    const uint32_t c = threadIdx.x / kWarpLanes;
    if (c >= together.bins_count) return;
    const ExtremeKeys joined = JoinLanes(of_warps[threadIdx.x % kWarpLanes][c]);
    if (threadIdx.x % kWarpLanes == 0) {
      together.block_keys[blockIdx.x * together.bins_count + c] = joined;
    }
  }

 private:
  static_assert(kHistogramWarps == kWarpLanes, "lanes of a warp take a warp's extremes each");

  __device__ void Note(uint32_t c, const ExtremeKeys& keys) {
    const ExtremeKeys joined = JoinLanes(keys);
    if (threadIdx.x % kWarpLanes == 0) of_warps[threadIdx.x / kWarpLanes][c] = joined;
  }
};

// Whether even edges increase, which the lanes of a warp look up together where it is not certain.
__device__ bool EdgesIncrease(const BinLayout& layout) {
  const EdgeOrder order = OrderOfEvenEdges(layout);
  if (order != EdgeOrder::kUnknown) return order == EdgeOrder::kIncreasing;
  bool increase = true;
  for (uint64_t e = threadIdx.x % kWarpLanes; e < layout.bin_count && increase; e += kWarpLanes) {
    increase = EvenEdge(layout, e) < EvenEdge(layout, e + 1);
  }
  return __all_sync(~0u, increase) != 0;
}

// The layout of even bins whose range is that of all blocks' samples. A warp for each; its lanes
// give the same. Bins that cannot have edges get those of [0, 1], and what is counted there is
// dropped: the host finds the same error in the extremes (CollectHistogram).
__device__ BinLayout ResolveRange(const TogetherArguments& together, uint32_t c,
                                  uint64_t bin_count) {
  ExtremeKeys keys;
  for (uint32_t b = threadIdx.x % kWarpLanes; b < gridDim.x; b += kWarpLanes) {
    // Not from L1, where a block may have them from before.
    const ExtremeKeys* const of_block = &together.block_keys[b * together.bins_count + c];
    keys.smallest = min(keys.smallest, __ldcg(&of_block->smallest));
    keys.largest = max(keys.largest, __ldcg(&of_block->largest));
  }
  keys = JoinLanes(keys);
  if (blockIdx.x == 0 && threadIdx.x % kWarpLanes == 0) together.keys[c] = keys;
  double lower =
      keys.smallest == ExtremeKeys::kNoSmallest ? kEmptyRangeLower : FromOrderedKey(keys.smallest);
  double upper =
      keys.largest == ExtremeKeys::kNoLargest ? kEmptyRangeUpper : FromOrderedKey(keys.largest);
  const bool is_resolved = WidenRange(
      [bin_count](double low, double high) {
        return EdgesIncrease(BinLayout::Even(low, high, bin_count));
      },
      lower, upper);
  return is_resolved ? BinLayout::Even(lower, upper, bin_count)
                     : BinLayout::Even(kEmptyRangeLower, kEmptyRangeUpper, bin_count);
}

// A block's shared memory beside counters and tables.
struct OwnMemory {
  ChannelBins bins[kFewChannels];
  uint32_t outcome_counts[SharedOutcomes::kWords];
  RangeSearch search;
};
static_assert(sizeof(OwnMemory) <= kTogetherOwnBytes);

template <class T, class Team>
__global__ void __launch_bounds__(kHistogramThreads)
    CountTogether(const __grid_constant__ TogetherArguments together) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  // Raw, since memory of a block is not initialised.
  alignas(OwnMemory) __shared__ unsigned char own_bytes[sizeof(OwnMemory)];
  OwnMemory& own = *reinterpret_cast<OwnMemory*>(own_bytes);
  const HistogramArguments& arguments = together.histogram;
  const BinRange bins = BinRange::Whole(arguments);
  SharedCounters counters = bins.CountersIn(arguments, shared);
  SharedOutcomes outcomes(own.outcome_counts);
  counters.Clear();
  outcomes.Clear();
  if (threadIdx.x < kFewChannels) own.bins[threadIdx.x] = arguments.few_channels[threadIdx.x];
  const double* const edges = CopyEdges(
      arguments, reinterpret_cast<double*>(shared + HistogramPartBytes(counters.size_bytes())));
  Team::ClearAnswer(arguments);
  if (together.needs_range) {
    own.search.Find<T>(together);
    Team::Meet();
    const uint32_t c = threadIdx.x / kWarpLanes;
    if (c < together.bins_count && together.is_automatic[c]) {
      const BinLayout layout =
          ResolveRange(together, c, arguments.few_channels[c].layout.bin_count);
      if (threadIdx.x % kWarpLanes == 0) own.bins[c].layout = layout;
    }
    __syncthreads();
  } else {
    Team::Begin();
  }
  Sampler<T> sampler(arguments, edges, own.bins);
  sampler.ForEach(0, sampler.steps(),
                  [&](uint64_t bin, uint32_t) { counters.Add(static_cast<uint32_t>(bin)); });
  sampler.ReportOutcomes(own.outcome_counts);
  __syncthreads();
  Team::Join(arguments, bins, counters, outcomes);
}

}  // namespace

TogetherKernel FindClusterTogetherKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> TogetherKernel {
    return CountTogether<typename decltype(tag)::type, ClusterTeam>;
  });
}

TogetherKernel FindGridTogetherKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> TogetherKernel {
    return CountTogether<typename decltype(tag)::type, GridTeam>;
  });
}

}  // namespace gridfold::kernels::cuda
