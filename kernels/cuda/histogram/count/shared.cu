// Bins that fit the shared memory of one block, or of several together: any layout, and any number
// of channels and dimensions.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/sampler.cuh"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInShared(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const auto block = cooperative_groups::this_thread_block();
  const BinRange range = BinRange::Of(arguments);
  SharedCounters counters = range.CountersIn(arguments, shared);
  counters.Clear();
  const double* const edges = CopyEdges(
      arguments, reinterpret_cast<double*>(shared + HistogramPartBytes(counters.size_bytes())));
  block.sync();

  Sampler<T> sampler(arguments, edges);
  for (uint64_t begin = 0; begin < sampler.steps(); begin += arguments.steps_per_flush) {
    const uint64_t end = min(begin + arguments.steps_per_flush, uint64_t{sampler.steps()});
    sampler.ForEach(
        static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
        [&](uint64_t bin, uint32_t) { counters.Add(static_cast<uint32_t>(bin) - range.first); });
    block.sync();
    FlushCounters(arguments, range, counters);
    block.sync();
  }
  if (range.is_first()) sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindSharedHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountInShared<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
