// Launches scans by exact sums. For scan.cc only; see scan/scan.h.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_EXACT_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_EXACT_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/device_totals.h"
#include "kernels/cuda/scan/base/launching.h"

namespace gridfold::kernels::cuda {

// Exact sums of floating-point arrays of at least one element, in any grouping.
absl::Status LaunchExactScan(const ScanPlan& plan, const ScanArguments& arguments,
                             const uint64_t* offsets, const DeviceScanCarry& carry,
                             Scratch& scratch, const DeviceProperties& properties,
                             cudaStream_t stream);
// Enqueues what finds the sum of a whole array of at least one element, as one ExactState.
absl::StatusOr<DeviceTotals> LaunchExactTotal(const ScanPlan& plan, const ScanArguments& arguments,
                                              Scratch& scratch, const DeviceProperties& properties,
                                              cudaStream_t stream);
uint64_t ExactScanScratchBytes(const ScanPlan& plan);
uint64_t ExactScanScratchBytesMax(uint64_t input_bytes);
uint64_t ExactScanPasses(const ScanPlan& plan);  // Over the input.

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_EXACT_H_
