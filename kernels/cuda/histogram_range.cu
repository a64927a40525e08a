#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <limits>

#include "kernels/cuda/histogram_range_kernel.h"
#include "kernels/cuda/histogram_walk.cuh"
#include "kernels/numerics/element.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr int kUnroll = 8;

template <class T>
__device__ ExtremeKeys ExtremesOfThread(const RangeArguments& arguments, const SampleWalk& walk) {
  const T* const samples = static_cast<const T*>(arguments.samples);
  // Infinities stand for nothing yet: no finite sample is beyond them.
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -smallest;
#pragma unroll kUnroll
  for (uint64_t i = walk.first; i < walk.end; i += walk.stride) {
    // Adding 0 makes -0.0 the 0.0 that it equals, so that the sign of a bound is not left to
    // chance.
    const double x = static_cast<double>(samples[i]) + 0.0;
    if (!IsFinite(x)) continue;
    smallest = x < smallest ? x : smallest;
    largest = x > largest ? x : largest;
  }
  ExtremeKeys keys;
  if (smallest <= largest) {
    keys.smallest = OrderedKey(smallest);
    keys.largest = OrderedKey(largest);
  }
  return keys;
}

template <class T>
__global__ void __launch_bounds__(kRangeThreads) FindExtremes(const RangeArguments arguments) {
  const SampleWalk walk(arguments.sample_count, arguments.channel_count);
  const ExtremeKeys keys = ExtremesOfThread<T>(arguments, walk);
  // Threads of a warp with the same channel add their part together.
  const auto same_channel =
      cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), walk.channel);
  const uint64_t smallest =
      cooperative_groups::reduce(same_channel, keys.smallest, cooperative_groups::less<uint64_t>());
  const uint64_t largest = cooperative_groups::reduce(same_channel, keys.largest,
                                                      cooperative_groups::greater<uint64_t>());
  if (same_channel.thread_rank() != 0) return;
  ExtremeKeys& all = arguments.keys[walk.channel];
  atomicMin(reinterpret_cast<unsigned long long*>(&all.smallest), smallest);
  atomicMax(reinterpret_cast<unsigned long long*>(&all.largest), largest);
}

}  // namespace

RangeKernel FindRangeKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> RangeKernel { return FindExtremes<typename decltype(tag)::type>; });
}

}  // namespace gridfold::kernels::cuda
