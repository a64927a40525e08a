// Threads share out the samples of a histogram in a grid-stride loop whose stride is a multiple of
// the number of channels, so that a thread meets samples of one channel only.
//
// Example, three channels, eight threads: the stride is six, not eight:
//
//   thread 1 takes samples 1, 7, 13, ...: all of channel 1; threads 6 and 7 take none
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_WALK_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_WALK_CUH_

#include <cstdint>

namespace gridfold::kernels::cuda {

// Which of the blocks that share out the samples this one is. The parts of a histogram take the
// same samples: they count as one block.
struct BlockShare {
  uint32_t rank;
  uint32_t count;

  __device__ static BlockShare Of(uint32_t part_count) {
    return {blockIdx.x / part_count, gridDim.x / part_count};
  }
};

// Which samples a thread takes: first, first + stride, ... of channel first % channel_count. Steps
// have 32 bits: no device holds 2^32 samples for each thread of a block.
struct SampleWalk {
  // Requires at least as many threads in all blocks as channels.
  __device__ SampleWalk(uint64_t sample_count, uint32_t channel_count, const BlockShare& block) {
    const uint64_t threads = uint64_t{block.count} * blockDim.x;
    first = uint64_t{block.rank} * blockDim.x + threadIdx.x;
    stride = channel_count == 1 ? threads : threads - threads % channel_count;
    channel = channel_count == 1 ? 0 : static_cast<uint32_t>(first % channel_count);
    // Threads past the stride would take what others take.
    const bool is_used = first < stride && first < sample_count;
    sample_steps =
        is_used ? static_cast<uint32_t>((sample_count - first + stride - 1) / stride) : 0;
    steps = static_cast<uint32_t>((sample_count + stride - 1) / stride);
  }

  __device__ uint64_t SampleAt(uint32_t step) const { return first + step * stride; }

  uint64_t first;
  uint64_t stride;
  uint32_t sample_steps;  // Steps at which there is a sample for this thread.
  uint32_t steps;         // The most of all threads of the grid, and the same for all.
  uint32_t channel;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_WALK_CUH_
