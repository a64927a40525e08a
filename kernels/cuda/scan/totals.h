// Totals of parts, of which carries are made before the parts are scanned: Lane::FindScanTotals and
// Lane::CarryOver. See device/launch.h for the manner of launchers; plain C++.
//
//   totals = LaunchScanTotals(plan, elements, scratch, properties, stream)   // On the device.
//   CarryOverTotals(plan, their copy, carry)                                 // On the host.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_TOTALS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_TOTALS_H_

#include <cuda_runtime_api.h>

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/scan.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/scan/base/device_totals.h"

namespace gridfold::kernels::cuda {

// Enqueues what finds the totals of a part that others follow: of some multiple of
// kScanCarryElements elements, in device memory. They lie in the scratch, of which no more is taken
// than by the part's scan. Errors: RESOURCE_EXHAUSTED where the scratch is too small; INTERNAL from
// CUDA.
absl::StatusOr<DeviceTotals> LaunchScanTotals(const ScanPlan& plan, const DeviceSpan& elements,
                                              Scratch& scratch, const DeviceProperties& properties,
                                              cudaStream_t stream);

// Makes of a carry in the plain form (lane/wide_form_carry.h) the one behind such a part, which is
// in that form too: by the joins of the part's scan, in its order.
void CarryOverTotals(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry);

// Clears the bytes of a carry that say nothing, as those between its members, so that equal carries
// have equal bytes. `plan` has the operation whose values the carry holds, that of a wide form too.
void ClearPadding(const ScanPlan& plan, ScanCarry& carry);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_TOTALS_H_
