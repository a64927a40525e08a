#include "kernels/cuda/bykey/zeros.h"

#include "kernels/cuda/bykey/kernels.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

absl::Status LaunchFindNegativeZeros(ElementType type, const std::byte* elements, uint64_t count,
                                     uint32_t* found, const DeviceProperties& properties,
                                     cudaStream_t stream) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(found, 0, sizeof(uint32_t), stream));
  constexpr uint64_t kBlocksPerMultiprocessor = 8;
  const uint64_t blocks_max =
      static_cast<uint64_t>(properties.multiprocessor_count) * kBlocksPerMultiprocessor;
  const LaunchShape shape{.grid = dim3(GridStrideBlocks(count, kKeyThreads, blocks_max)),
                          .block = dim3(kKeyThreads)};
  return Launch(NegativeZerosKernelOf(ElementSize(type)), shape, stream, elements, count, found);
}

}  // namespace gridfold::kernels::cuda
