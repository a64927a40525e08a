// Rearrangements on the device. See device/launch.h for the manner of launchers; they need no
// scratch.
#ifndef GRIDFOLD_KERNELS_CUDA_REARRANGE_REARRANGE_H_
#define GRIDFOLD_KERNELS_CUDA_REARRANGE_REARRANGE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/rearrangement.h"

namespace gridfold::kernels::cuda {

// Enqueues the copy of the order's elements, of so many bytes each, to `to` from an input that
// begins at `from`. Both addresses are aligned to an element, and nothing overlaps. Errors:
// INTERNAL from CUDA.
absl::Status LaunchRearrangement(const Rearrangement& order, uint64_t element_bytes,
                                 const void* from, void* to, cudaStream_t stream);

inline constexpr uint32_t kRearrangeThreads = 256;

// Copies tiles in units of 1, 2, 4, 8 or 16 bytes. `from` is where the result's first element is.
using RearrangeKernel = void (*)(RearrangementTiles tiles, const void* from, void* to);
RearrangeKernel ChooseRearrangeKernel(const RearrangementTiles& tiles);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REARRANGE_REARRANGE_H_
