// Launches moving sums and means. For scan.cc only; see scan/scan.h.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_MOVING_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_MOVING_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/arguments.h"

namespace gridfold::kernels::cuda {

// Moving scans of arrays of at least one element, in any grouping; `offsets` of segments are in
// device memory.
absl::Status LaunchMovingScan(const ScanPlan& plan, const ScanArguments& arguments,
                              const uint64_t* offsets, Scratch& scratch,
                              const DeviceProperties& properties, cudaStream_t stream);
uint64_t MovingScanScratchBytes(const ScanPlan& plan);
uint64_t MovingScanScratchBytesMax(uint64_t input_bytes);
uint64_t MovingScanPasses(const ScanPlan& plan);  // Over the input.

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_MOVING_H_
