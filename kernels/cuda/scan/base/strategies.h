// The three ways of launching a scan. For scan*.cc only; see scan/scan.h.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_STRATEGIES_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_STRATEGIES_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/scan.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

inline ScanOperation OperatorOf(const ScanPlan& plan) {
  return kernels::OperatorOf(plan.operation, plan.array.element_type,
                             plan.nan_policy == NanPolicy::kIgnore);
}

// Whole arrays, rows and segments of at least one element. `offsets` of segments are in device
// memory.
absl::Status LaunchLookBackScan(const ScanPlan& plan, const ScanArguments& arguments,
                                const uint64_t* offsets, const DeviceScanCarry& carry,
                                Scratch& scratch, const DeviceProperties& properties,
                                cudaStream_t stream);
uint64_t LookBackScratchBytes(uint64_t element_count, bool has_segments);

// Axis 0 of at least one element.
absl::Status LaunchColumnScan(const ScanPlan& plan, const ScanArguments& arguments,
                              Scratch& scratch, const DeviceProperties& properties,
                              cudaStream_t stream);
uint64_t ColumnScratchBytes(const ScanPlan& plan);
uint64_t ColumnScratchBytesMax(uint64_t element_count);

// Exact sums of floating-point arrays of at least one element, in any grouping.
absl::Status LaunchExactScan(const ScanPlan& plan, const ScanArguments& arguments,
                             const uint64_t* offsets, const DeviceScanCarry& carry,
                             Scratch& scratch, const DeviceProperties& properties,
                             cudaStream_t stream);
uint64_t ExactScanScratchBytes(const ScanPlan& plan);
uint64_t ExactScanScratchBytesMax(uint64_t input_bytes);
uint64_t ExactScanPasses(const ScanPlan& plan);  // Over the input.

// Shared memory of a block that scans positions in a row: a tile's elements and, where results are
// of another type, those too.
uint32_t ScanTileSharedBytes(const ScanPlan& plan);

// A grid-stride grid of blocks of `block_threads` for `threads` threads.
LaunchShape GridStrideShape(uint64_t threads, uint32_t block_threads,
                            const DeviceProperties& properties);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_STRATEGIES_H_
