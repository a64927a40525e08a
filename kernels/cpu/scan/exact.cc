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

}  // namespace gridfold::kernels::cpu
