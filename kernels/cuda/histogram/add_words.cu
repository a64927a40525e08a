#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/histogram/add_words.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;

__global__ void __launch_bounds__(kThreads)
    AddWords(const uint64_t* from, uint64_t word_count, uint64_t* to) {
  const uint64_t step = uint64_t{gridDim.x} * kThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < word_count; i += step) {
    to[i] += from[i];
  }
}

}  // namespace

absl::Status LaunchAddWords(const std::byte* from, uint64_t word_count, std::byte* to,
                            const DeviceProperties& properties, cudaStream_t stream) {
  const uint64_t blocks_max =
      static_cast<uint64_t>(properties.multiprocessor_count) * kBlocksPerMultiprocessor;
  const LaunchShape shape{.grid = dim3(GridStrideBlocks(word_count, kThreads, blocks_max)),
                          .block = dim3(kThreads)};
  return Launch(AddWords, shape, stream, reinterpret_cast<const uint64_t*>(from), word_count,
                reinterpret_cast<uint64_t*>(to));
}

}  // namespace gridfold::kernels::cuda
