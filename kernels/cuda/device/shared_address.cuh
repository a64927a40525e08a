// SharedAddress gives addresses of shared memory as instructions written in PTX take them: 32 bits,
// within the window of shared memory.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_SHARED_ADDRESS_CUH_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_SHARED_ADDRESS_CUH_

#include <cstdint>

namespace gridfold::kernels::cuda {

__device__ inline uint32_t SharedAddress(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_SHARED_ADDRESS_CUH_
