#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "kernels/cuda/histogram/place/extremes.cuh"
#include "kernels/cuda/histogram/place/walk.cuh"
#include "kernels/cuda/histogram/range_kernel.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kRangeThreads) FindExtremes(const RangeArguments arguments) {
  const SampleWalk walk(arguments.sample_count, arguments.channel_count, BlockShare::Of(1));
  const ExtremeKeys keys = ExtremesOfThread(static_cast<const T*>(arguments.samples), walk);
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
