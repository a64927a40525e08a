#include "kernels/cpu/scan/scan.h"

#include "kernels/cpu/scan/operation.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cpu {

absl::Status ScanOnCpu(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                       ScanCarry* carry, JobContext& job) {
  if (plan.exact) {
    job.statistics.strategy = "scan/exact";
    return RunExactScan(plan, input, output, carry, job);
  }
  job.statistics.strategy =
      plan.grouping.kind == GroupingKind::kAxis0 ? "scan/axis-0" : "scan/blocks";
  switch (
      OperatorOf(plan.operation, plan.array.element_type, plan.nan_policy == NanPolicy::kIgnore)) {
    case ScanOperation::kUnboundedSum:  // What scans make of sums and products.
    case ScanOperation::kScaledProduct: break;
    case ScanOperation::kSum:
      return RunScanOperation<ScanOperation::kSum>(plan, input, output, carry, job);
    case ScanOperation::kProduct:
      return RunScanOperation<ScanOperation::kProduct>(plan, input, output, carry, job);
    case ScanOperation::kMaxOfNumbers:
      return RunScanOperation<ScanOperation::kMaxOfNumbers>(plan, input, output, carry, job);
    case ScanOperation::kMin:
    case ScanOperation::kMax:
      return RunScanOperation<ScanOperation::kMax>(plan, input, output, carry, job);
  }
  return absl::InternalError("not a scan operation");
}

}  // namespace gridfold::kernels::cpu
