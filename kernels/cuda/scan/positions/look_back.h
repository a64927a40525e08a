// Launches scans of whole arrays, rows and segments by look-back. For scan.cc only; see
// scan/scan.h.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/launching.h"

namespace gridfold::kernels::cuda {

// Whole arrays, rows and segments of at least one element. `offsets` of segments are in device
// memory.
absl::Status LaunchLookBackScan(const ScanPlan& plan, const ScanArguments& arguments,
                                const uint64_t* offsets, const DeviceScanCarry& carry,
                                Scratch& scratch, const DeviceProperties& properties,
                                cudaStream_t stream);
uint64_t LookBackScratchBytes(uint64_t element_count, bool has_segments);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_H_
