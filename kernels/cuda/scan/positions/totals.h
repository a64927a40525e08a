// Launches that find what the blocks of tiles of a part come to. For scan/totals.cc only.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_H_

#include <cuda_runtime_api.h>

#include "absl/status/statusor.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/device_totals.h"

namespace gridfold::kernels::cuda {

// Enqueues what finds the totals of the part's blocks of tiles: Values of the plan's operator.
// Requires a scan of one group, not exact, of some multiple of kScanCarryElements. Takes no more of
// the scratch than LookBackScratchBytes.
absl::StatusOr<DeviceTotals> LaunchTotalsOfBlocks(const ScanPlan& plan,
                                                  const ScanArguments& arguments, Scratch& scratch,
                                                  const DeviceProperties& properties,
                                                  cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_H_
