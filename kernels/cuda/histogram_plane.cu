// Even and integer bins of two axes, both guessed.
#include "kernels/cuda/histogram_guessing.cuh"
#include "kernels/cuda/histogram_locators.cuh"
#include "kernels/cuda/histogram_strategy.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInPlane(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t drawn;
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  SharedCounters counters(arguments, reinterpret_cast<uint32_t*>(shared));
  SharedOutcomes outcomes(outcome_counts);
  counters.Clear();
  outcomes.Clear();
  __syncthreads();
  CountGuessed<T, true>(arguments, PlaneLocator(arguments), counters, outcomes, &drawn);
}

}  // namespace

HistogramKernel FindPlaneHistogramKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> HistogramKernel { return CountInPlane<typename decltype(tag)::type>; });
}

}  // namespace gridfold::kernels::cuda
