#include "kernels/cpu/reduce/brief.h"

#include "kernels/types/statistic_set.h"

namespace gridfold::kernels::cpu {

namespace {

// Fewer groups would leave lanes empty.
constexpr uint64_t kGroupsMin = 8;
// Segments may be no longer, since one thread reduces a segment whole.
constexpr uint64_t kLongestSegment = uint64_t{1} << 14;
constexpr uint64_t kMeanSegment = kBriefRows / 4;

bool HasBriefGroups(const ReductionPlan& plan) {
  const Grouping& grouping = plan.grouping;
  if (grouping.group_count < kGroupsMin) return false;
  switch (grouping.kind) {
    case GroupingKind::kWhole: return false;
    case GroupingKind::kAxis0: return plan.array.rows >= 1 && plan.array.rows <= kBriefRows;
    case GroupingKind::kAxis1: return grouping.group_size >= 1 && grouping.group_size <= kBriefRows;
    case GroupingKind::kSegments: break;
  }
  return plan.array.element_count <= grouping.group_count * kMeanSegment &&
         grouping.group_size <= kLongestSegment;
}

}  // namespace

bool IsBrief(const ReductionPlan& plan) {
  if (plan.return_states) return false;
  StatisticSet wanted;
  for (const Statistic statistic : plan.statistics) wanted.Add(statistic);
  return BriefStatistics().HasAll(wanted) && HasBriefGroups(plan);
}

}  // namespace gridfold::kernels::cpu
