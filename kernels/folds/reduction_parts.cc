#include "kernels/folds/reduction_parts.h"

#include <utility>

#include "kernels/contract/lane_limits.h"

namespace gridfold::kernels {

bool CanReduceInParts(const ReductionPlan& plan, uint64_t state_bytes_max) {
  if (HasFloatingProduct(plan)) return false;
  switch (plan.grouping.kind) {
    case GroupingKind::kWhole:
    case GroupingKind::kAxis0:
      return plan.grouping.group_count * OutputBytesPerGroup(PlanStates(plan)) <= state_bytes_max;
    case GroupingKind::kAxis1: return !plan.return_states;
    case GroupingKind::kSegments: break;
  }
  return false;
}

uint64_t PartElements(const ReductionPlan& plan, uint64_t begin, uint64_t elements_max) {
  const uint64_t rest = plan.array.element_count - begin;
  if (rest <= elements_max) return rest;
  if (plan.grouping.kind == GroupingKind::kWhole) return elements_max;
  const uint64_t row_bytes = plan.array.columns * ElementSize(plan.array.element_type);
  const bool may_cut_rows =
      plan.grouping.kind == GroupingKind::kAxis1 && row_bytes > kWholeGroupBytesMax;
  return may_cut_rows ? elements_max : elements_max - (begin + elements_max) % plan.array.columns;
}

absl::StatusOr<std::unique_ptr<ReductionFold>> MakePartsFold(const ReductionPlan& plan,
                                                             const LaneOptions& lane) {
  ReductionFoldSpec spec{.plan = plan, .lane = lane, .group_count_max = plan.grouping.group_count};
  spec.plan.array.element_count = 0;
  spec.plan.array.rows = 0;
  if (plan.grouping.kind == GroupingKind::kAxis1) {
    spec.plan.grouping.group_count = 0;
  } else {
    spec.plan.grouping.group_size = 0;
  }
  return ReductionFold::Make(std::move(spec));
}

}  // namespace gridfold::kernels
