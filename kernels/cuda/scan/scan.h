// Scans on the device. See device/launch.h for the manner of launchers; plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_SCAN_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_SCAN_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/array.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/launching.h"

namespace gridfold::kernels::cuda {

// All pointers are to device memory.
struct ScanInput {
  DeviceSpan elements;                // plan.array.element_count of them.
  const uint64_t* offsets = nullptr;  // Segments only: plan.grouping.offsets.
};
struct ScanOutput {
  MutableDeviceSpan results;  // plan.array.element_count of plan.output_type; not over the input.
  // Set to 1 where a result does not fit and that is an error, or where one does not hold that a
  // plain operator gave (numerics/scans/operator.h), else 0.
  uint32_t* overflow_flag;
};

// Device memory that LaunchScan takes of a Scratch.
uint64_t ScanScratchBytes(const ScanPlan& plan);

// The most that ScanScratchBytes gives for plans of up to `input_bytes`, whatever their groups.
uint64_t ScanScratchBytesMax(uint64_t input_bytes);

// Enqueues the scan on `stream`, a stream of the current device, which has `properties`. Results
// have the same bits in every run and on every device. Errors: RESOURCE_EXHAUSTED where `scratch`
// is too small; INTERNAL from CUDA. The plan's operation may be that of a wide form.
absl::Status LaunchScan(const ScanPlan& plan, const ScanInput& input, const ScanOutput& output,
                        const DeviceScanCarry& carry, Scratch& scratch,
                        const DeviceProperties& properties, cudaStream_t stream);

// Enqueues that `bits` becomes those of the largest finite magnitude among some float64 elements.
// Errors: INTERNAL from CUDA.
absl::Status LaunchLargestMagnitude(const DeviceSpan& elements, uint64_t* bits,
                                    const DeviceProperties& properties, cudaStream_t stream);

// The kernel family that LaunchScan takes: "scan/look-back", "scan/axis-0", "scan/exact"
// or "scan/moving".
const char* ScanStrategy(const ScanPlan& plan);

// Bytes of the array that LaunchScan reads: exact scans, but of few rows along axis 0, read it
// twice, and moving ones two or three times.
uint64_t ScanBytesRead(const ScanPlan& plan);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_SCAN_H_
