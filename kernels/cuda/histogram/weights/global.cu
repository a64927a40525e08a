// Sums of weights in device memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram/place/sampler.cuh"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/weights/weights.cuh"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    SumInGlobal(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const double* const edges = CopyEdges(arguments, reinterpret_cast<double*>(shared));
  cooperative_groups::this_thread_block().sync();
  GlobalSums sums(arguments);
  Sampler<T> sampler(arguments, edges);
  sampler.ForEach(0, sampler.steps(), [&](uint64_t bin, uint32_t step) {
    if (!sums.Has(bin)) return;
    AddWeight(sums, bin, LoadWeight(arguments, sampler.SampleAt(step)), arguments.flags_kept);
  });
  if (arguments.outcomes != nullptr) sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindGlobalWeightsKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> HistogramKernel { return SumInGlobal<typename decltype(tag)::type>; });
}

}  // namespace gridfold::kernels::cuda
