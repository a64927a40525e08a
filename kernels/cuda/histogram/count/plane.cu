// Even and integer bins of two axes, both guessed.
#include "kernels/cuda/histogram/count/guessing.cuh"
#include "kernels/cuda/histogram/place/locators.cuh"

namespace gridfold::kernels::cuda {

HistogramKernel FindPlaneHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountByGuesses<typename decltype(tag)::type, InsideLocator<PlaneLocator>>;
  });
}

}  // namespace gridfold::kernels::cuda
