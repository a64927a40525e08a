#include <type_traits>

#include "kernels/cpu/scan/columns.h"
#include "kernels/cpu/scan/contiguous.h"
#include "kernels/cpu/scan/operation.h"
#include "kernels/cpu/scan/tile_exact_sum.h"

namespace gridfold::kernels::cpu {

namespace {

template <class T, class Out>
absl::Status RunTyped(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                      ScanCarry* carry, JobContext& job) {
  if (plan.grouping.kind == GroupingKind::kAxis0) {
    return RunToEnd(plan, ColumnScan<ExactSumColumnBlockScan<T>, Out>(plan, input, output), job);
  }
  if (plan.grouping.group_count > 1) {
    return RunToEnd(
        plan, ContiguousScan<ExactSumTileScan<T, true>, Out>(plan, input, output, carry), job);
  }
  return RunToEnd(plan, ContiguousScan<ExactSumTileScan<T, false>, Out>(plan, input, output, carry),
                  job);
}

// Calls visit(PartScan) with the type of scans of parts of an array.
template <class Visit>
void VisitExactPartScan(ElementType type, Visit visit) {
  VisitElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (FloatingElement<T>) {
      visit(std::type_identity<ContiguousScan<ExactSumTileScan<T, false>, T>>());
    }
  });
}

}  // namespace

absl::Status RunExactScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                          ScanCarry* carry, JobContext& job) {
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (FloatingElement<T>) {
      if (plan.output_type == kElementTypeOf<T>)
        return RunTyped<T, T>(plan, input, output, carry, job);
      return RunTyped<T, double>(plan, input, output, carry, job);
    } else {
      return absl::InternalError("integer scans are exact as they are");
    }
  });
}

absl::Status FindExactTotals(const ScanPlan& plan, HostSpan input, JobContext& job,
                             ScanTotals& totals) {
  absl::Status status;
  VisitExactPartScan(plan.array.element_type, [&](auto tag) {
    status = typename decltype(tag)::type(plan, input, {}, nullptr).FindTotals(job, totals);
  });
  return status;
}

void CarryOverExactly(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) {
  VisitExactPartScan(plan.array.element_type, [&](auto tag) {
    typename decltype(tag)::type(plan, {}, {}, &carry).CarryOver(totals);
  });
}

}  // namespace gridfold::kernels::cpu
