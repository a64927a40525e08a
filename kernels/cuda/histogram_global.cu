// The strategy for bins beyond any shared memory: counters in device memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram_sampler.cuh"
#include "kernels/cuda/histogram_strategy.h"

namespace gridfold::kernels::cuda {

namespace {

// Adds 1 for each thread of a warp, once for all that have the same counter.
__device__ void AddSample(unsigned long long* counter) {
  const auto group = cooperative_groups::labeled_partition(
      cooperative_groups::coalesced_threads(), reinterpret_cast<unsigned long long>(counter));
  if (group.thread_rank() == 0) {
    atomicAdd(counter, static_cast<unsigned long long>(group.num_threads()));
  }
}

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInGlobal(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const double* const edges = CopyEdges(arguments, reinterpret_cast<double*>(shared));
  cooperative_groups::this_thread_block().sync();
  auto* const counters = reinterpret_cast<unsigned long long*>(arguments.counters);
  Sampler<T> sampler(arguments, edges);
  sampler.ForEach(0, sampler.steps(), [&](uint64_t bin, uint32_t) { AddSample(&counters[bin]); });
  sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindGlobalHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountInGlobal<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
