#include "kernels/cpu/reduce/brief.h"

#include "kernels/types/statistic_set.h"

namespace gridfold::kernels::cpu {

namespace {

// Fewer columns would leave lanes empty.
constexpr uint64_t kColumnsMin = 8;

bool HasBriefGroups(const ReductionPlan& plan) {
  const Grouping& grouping = plan.grouping;
  if (grouping.kind != GroupingKind::kAxis0) {
    return !plan.array.pitches && grouping.group_count >= 1 && grouping.group_size >= 1 &&
           grouping.group_size <= kBriefElements;
  }
  return grouping.matrices == 1 && grouping.group_count >= kColumnsMin && plan.array.rows >= 1 &&
         plan.array.rows <= kBriefRows;
}

}  // namespace

bool IsBrief(const ReductionPlan& plan) {
  if (plan.return_states) return false;
  StatisticSet wanted;
  for (const Statistic statistic : plan.statistics) wanted.Add(statistic);
  return BriefStatistics().HasAll(wanted) && HasBriefGroups(plan);
}

}  // namespace gridfold::kernels::cpu
