// Adds counters to others. See device/launch.h for the manner of launchers; this needs no scratch.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_ADD_WORDS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_ADD_WORDS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cuda/device/properties.h"

namespace gridfold::kernels::cuda {

// Enqueues the addition of so many 64-bit words at `from` to those at `to`, both on the current
// device and aligned to words. Errors: INTERNAL from CUDA.
absl::Status LaunchAddWords(const std::byte* from, uint64_t word_count, std::byte* to,
                            const DeviceProperties& properties, cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_ADD_WORDS_H_
