#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "kernels/cuda/histogram/place/walk.cuh"
#include "kernels/cuda/histogram/range_kernel.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr int kUnroll = 8;

template <class T>
__device__ ExtremeKeys ExtremesOfThread(const RangeArguments& arguments, const SampleWalk& walk) {
  const T* const samples = static_cast<const T*>(arguments.samples);
  bool is_empty = true;
  ComputeType<T> smallest{};
  ComputeType<T> largest{};
#pragma unroll kUnroll
  for (uint32_t step = 0; step < walk.sample_steps; ++step) {
    const ComputeType<T> x = ToCompute(samples[walk.SampleAt(step)]);
    if (IsNan(x) || IsInfinite(x)) continue;
    smallest = is_empty || x < smallest ? x : smallest;
    largest = is_empty || x > largest ? x : largest;
    is_empty = false;
  }
  ExtremeKeys keys;
  if (!is_empty) {
    // Adding 0 makes -0.0 the 0.0 that it equals, so that a bound's sign is not left to chance.
    keys.smallest = OrderedKey(LowerBoundFor(smallest) + 0.0);
    keys.largest = OrderedKey(UpperBoundFor(largest) + 0.0);
  }
  return keys;
}

template <class T>
__global__ void __launch_bounds__(kRangeThreads) FindExtremes(const RangeArguments arguments) {
  const SampleWalk walk(arguments.sample_count, arguments.channel_count, BlockShare::Of(1));
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
