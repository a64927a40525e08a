// Even and integer bins of one channel. A sample takes some ten instructions.
#include "kernels/cuda/histogram_guessing.cuh"
#include "kernels/cuda/histogram_locators.cuh"
#include "kernels/cuda/histogram_strategy.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T, bool kInParts>
__global__ void __launch_bounds__(kHistogramThreads)
    CountEven(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t drawn;
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  SharedCounters counters(arguments, reinterpret_cast<uint32_t*>(shared));
  SharedOutcomes outcomes(outcome_counts);
  counters.Clear();
  outcomes.Clear();
  __syncthreads();
  CountGuessed<T, kInParts>(arguments, EvenLocator(arguments), counters, outcomes, &drawn);
}

}  // namespace

HistogramKernel FindEvenHistogramKernel(ElementType type, bool in_parts) {
  return VisitElementType(type, [&](auto tag) -> HistogramKernel {
    using T = typename decltype(tag)::type;
    return in_parts ? CountEven<T, true> : CountEven<T, false>;
  });
}

}  // namespace gridfold::kernels::cuda
