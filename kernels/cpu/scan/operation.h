// Scans with the operator of one operation (OperatorOf), for all element and output types. Each is
// compiled by itself.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_H_

#include "absl/status/status.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

template <ScanOperation kOperation>
absl::Status RunScanOperation(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                              ScanCarry* carry, JobContext& job);

// What Lane::FindScanTotals and Lane::CarryOver do.
template <ScanOperation kOperation>
absl::Status FindTotals(const ScanPlan& plan, HostSpan input, JobContext& job, ScanTotals& totals);
template <ScanOperation kOperation>
void CarryOver(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry);

// Exact sums of floating-point arrays.
absl::Status RunExactScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                          ScanCarry* carry, JobContext& job);

// Moving sums and means.
absl::Status RunMovingScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                           JobContext& job);

absl::Status FindExactTotals(const ScanPlan& plan, HostSpan input, JobContext& job,
                             ScanTotals& totals);
void CarryOverExactly(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_H_
