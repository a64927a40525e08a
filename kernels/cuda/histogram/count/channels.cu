// Even and integer bins of few interleaved channels, guessed.
#include "kernels/cuda/histogram/count/guessing.cuh"
#include "kernels/cuda/histogram/place/locators.cuh"

namespace gridfold::kernels::cuda {

HistogramKernel FindChannelsHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountByGuesses<typename decltype(tag)::type, InsideLocator<ChannelLocator>>;
  });
}

}  // namespace gridfold::kernels::cuda
