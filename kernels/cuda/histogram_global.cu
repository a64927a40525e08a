// The strategy for bins beyond any shared memory: counters in device memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_sampler.cuh"
#include "kernels/cuda/histogram_strategy.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T, class Adder>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInGlobal(const HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const double* const edges = CopyEdges(arguments, reinterpret_cast<double*>(shared));
  cooperative_groups::this_thread_block().sync();
  auto* const totals = static_cast<typename Adder::Total*>(arguments.counters);
  Sampler<T> sampler(arguments, edges);
  sampler.ForEach(0, sampler.steps(), [&](uint64_t bin, uint32_t step) {
    Adder::AddSample(totals, bin, arguments, sampler.SampleAt(step));
  });
  sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindGlobalHistogramKernel(ElementType type, bool weighted) {
  return VisitElementType(type, [&](auto tag) -> HistogramKernel {
    using T = typename decltype(tag)::type;
    if (weighted) return CountInGlobal<T, WeightAdder>;
    return CountInGlobal<T, CountAdder>;
  });
}

}  // namespace gridfold::kernels::cuda
