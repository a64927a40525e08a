#include "kernels/cpu/scan/scan.h"

#include <type_traits>

#include "kernels/contract/strategy_error.h"
#include "kernels/cpu/scan/operation.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cpu {

namespace {

const char* StrategyOf(const ScanPlan& plan) {
  if (plan.is_moving()) return "scan/moving";
  if (plan.exact) return "scan/exact";
  return plan.grouping.kind == GroupingKind::kAxis0 ? "scan/axis-0" : "scan/blocks";
}

// Calls visit(std::integral_constant<ScanOperation, ...>()) with the operation whose operator the
// plan takes.
template <class Visit>
absl::Status VisitOperation(const ScanPlan& plan, Visit visit) {
  switch (
      OperatorOf(plan.operation, plan.array.element_type, plan.nan_policy == NanPolicy::kIgnore)) {
    case ScanOperation::kUnboundedSum:  // What scans make of sums and products.
    case ScanOperation::kScaledProduct:
    case ScanOperation::kMean: break;  // Of moving scans only.
    case ScanOperation::kSum:
      return visit(std::integral_constant<ScanOperation, ScanOperation::kSum>());
    case ScanOperation::kProduct:
      return visit(std::integral_constant<ScanOperation, ScanOperation::kProduct>());
    case ScanOperation::kMaxOfNumbers:
      return visit(std::integral_constant<ScanOperation, ScanOperation::kMaxOfNumbers>());
    case ScanOperation::kMin:
    case ScanOperation::kMax:
      return visit(std::integral_constant<ScanOperation, ScanOperation::kMax>());
  }
  return absl::InternalError("not a scan operation");
}

}  // namespace

absl::Status ScanOnCpu(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                       ScanCarry* carry, JobContext& job) {
  const char* const strategy = StrategyOf(plan);
  absl::Status status = CheckOnlyStrategy(plan.strategy, strategy);
  if (!status.ok()) return status;
  job.statistics.strategy = strategy;
  if (plan.is_moving()) return RunMovingScan(plan, input, output, job);
  if (plan.exact) return RunExactScan(plan, input, output, carry, job);
  return VisitOperation(plan, [&](auto operation) {
    return RunScanOperation<decltype(operation)::value>(plan, input, output, carry, job);
  });
}

absl::StatusOr<ScanTotals> FindScanTotalsOnCpu(const ScanPlan& plan, HostSpan input,
                                               JobContext& job) {
  job.statistics.strategy = "scan/totals";
  ScanTotals totals;
  const absl::Status status =
      plan.exact ? FindExactTotals(plan, input, job, totals)
                 : VisitOperation(plan, [&](auto operation) {
                     return FindTotals<decltype(operation)::value>(plan, input, job, totals);
                   });
  if (!status.ok()) return status;
  return totals;
}

void CarryOverOnCpu(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) {
  if (plan.exact) return CarryOverExactly(plan, totals, carry);
  // There is no error: what has totals is an operation.
  (void)VisitOperation(plan, [&](auto operation) {
    CarryOver<decltype(operation)::value>(plan, totals, carry);
    return absl::OkStatus();
  });
}

}  // namespace gridfold::kernels::cpu
