// How threads share out the samples of a histogram: a grid-stride loop whose stride is a multiple
// of the number of channels, so that a thread meets samples of one channel only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WALK_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WALK_CUH_

#include <cstdint>

namespace gridfold::kernels::cuda {

// Which samples a thread takes: first, first + stride, ... of channel first % channel_count.
struct SampleWalk {
  // Requires at least as many threads in the grid as channels.
  __device__ SampleWalk(uint64_t sample_count, uint32_t channel_count) {
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    first = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    stride = channel_count == 1 ? threads : threads - threads % channel_count;
    channel = channel_count == 1 ? 0 : static_cast<uint32_t>(first % channel_count);
    // Threads past the stride would take what others take.
    end = first < stride ? sample_count : 0;
    steps = (sample_count + stride - 1) / stride;
  }

  uint64_t first;
  uint64_t stride;
  uint64_t end;    // Samples of this thread lie before it.
  uint64_t steps;  // The same for all threads of the grid.
  uint32_t channel;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WALK_CUH_
