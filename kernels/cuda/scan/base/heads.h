// Heads say where groups start, for scans over positions in a row.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_HEADS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_HEADS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/arguments.h"

namespace gridfold::kernels::cuda {

// The heads of the plan's groups, whose grouping is not kAxis0; none at position 0 of a scan that
// continues, which is of one group or of segments. Those of segments are marked by a kernel: it is
// enqueued, and takes ScanHeadsScratchBytes of the scratch. `offsets` of segments are in device
// memory.
absl::StatusOr<ScanHeads> PlaceScanHeads(const ScanPlan& plan, const uint64_t* offsets,
                                         bool continues, Scratch& scratch,
                                         const DeviceProperties& properties, cudaStream_t stream);
uint64_t ScanHeadsScratchBytes(uint64_t element_count, bool has_segments);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_HEADS_H_
