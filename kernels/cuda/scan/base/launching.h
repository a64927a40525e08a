// What launchers of scans share: a carry in device memory, operators and grids. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_LAUNCHING_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_LAUNCHING_H_

#include <cstddef>
#include <cstdint>

#include "kernels/contract/scan.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

// The carry of Lane::ContinueScan. `value` is device memory of ScanCarry::kValueBytesMax bytes:
// what precedes the elements, and then, where they end at a multiple of kScanCarryElements, what
// precedes those that follow. Null for a scan of a whole array.
struct DeviceScanCarry {
  std::byte* value = nullptr;
  bool continues = false;  // Whether anything precedes.
};

inline ScanOperation OperatorOf(const ScanPlan& plan) {
  return kernels::OperatorOf(plan.operation, plan.array.element_type,
                             plan.nan_policy == NanPolicy::kIgnore);
}

// Shared memory of a block that scans positions in a row: a tile's elements and, where results are
// of another type, those too.
uint32_t ScanTileSharedBytes(const ScanPlan& plan);

// A grid-stride grid of blocks of `block_threads` for `threads` threads.
LaunchShape GridStrideShape(uint64_t threads, uint32_t block_threads,
                            const DeviceProperties& properties);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_LAUNCHING_H_
