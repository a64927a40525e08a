// Launches scans along axis 0. For scan.cc only; see scan/scan.h.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_COLUMNS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_COLUMNS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/launching.h"

namespace gridfold::kernels::cuda {

// Axis 0 of at least one element.
absl::Status LaunchColumnScan(const ScanPlan& plan, const ScanArguments& arguments,
                              Scratch& scratch, const DeviceProperties& properties,
                              cudaStream_t stream);
uint64_t ColumnScratchBytes(const ScanPlan& plan);
uint64_t ColumnScratchBytesMax(uint64_t element_count);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_COLUMNS_H_
