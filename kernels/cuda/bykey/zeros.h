// Whether there are negative zeros among elements, whose sums differ from those of zeros. Plain
// C++.
#ifndef GRIDFOLD_KERNELS_CUDA_BYKEY_ZEROS_H_
#define GRIDFOLD_KERNELS_CUDA_BYKEY_ZEROS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// Enqueues the search; *found, in device memory, becomes 1 or 0. The elements are in device memory,
// of a floating-point type.
absl::Status LaunchFindNegativeZeros(ElementType type, const std::byte* elements, uint64_t count,
                                     uint32_t* found, const DeviceProperties& properties,
                                     cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BYKEY_ZEROS_H_
