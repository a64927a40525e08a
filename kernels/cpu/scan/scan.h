// Scans on the CPU.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_SCAN_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_SCAN_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/scan.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// The input has been checked against the plan and the lane. With a carry, as Lane::ContinueScan.
absl::Status ScanOnCpu(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                       ScanCarry* carry, JobContext& job);

// What Lane::FindScanTotals and Lane::CarryOver do.
absl::StatusOr<ScanTotals> FindScanTotalsOnCpu(const ScanPlan& plan, HostSpan input,
                                               JobContext& job);
void CarryOverOnCpu(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_SCAN_H_
