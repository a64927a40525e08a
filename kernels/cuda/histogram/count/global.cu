// The strategy for bins beyond any shared memory: counters in device memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/sampler.cuh"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInGlobal(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const double* const edges = CopyEdges(arguments, reinterpret_cast<double*>(shared));
  cooperative_groups::this_thread_block().sync();
  Sampler<T> sampler(arguments, edges);
  sampler.ForEach(0, sampler.steps(), [&](uint64_t bin, uint32_t) { AddToTotal(arguments, bin); });
  sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindGlobalHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountInGlobal<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
