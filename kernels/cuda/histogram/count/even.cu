// Even and integer bins of one channel. A sample takes some ten instructions.
#include "kernels/cuda/histogram/count/guessing.cuh"
#include "kernels/cuda/histogram/place/locators.cuh"

namespace gridfold::kernels::cuda {

HistogramKernel FindEvenHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountByGuesses<typename decltype(tag)::type, EvenLocator>;
  });
}

}  // namespace gridfold::kernels::cuda
