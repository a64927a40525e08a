#include "absl/strings/str_cat.h"
#include "client/load/work/group_totals.h"
#include "client/load/work/group_walk.h"
#include "client/load/work/known_answer.h"

namespace gridfold::load {

KnownReduction ComputeKnownReduction(const RequestKind& kind, const OperationValues& values) {
  GroupWalk walk(kind, values);
  std::vector<GroupTotals> groups(walk.group_count());
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    GroupTotals& group = groups[walk.GroupOf(i)];
    group.Add(values.elements[i], group.count);
  }
  return {.group_count = groups.size(), .entries = KnownStatistics(kind, groups)};
}

std::string Difference(const KnownReduction& known, const client::ReductionResult& result) {
  if (result.group_count != known.group_count) {
    return absl::StrCat(result.group_count, " groups, not ", known.group_count);
  }
  return Difference(known.entries, result.entries);
}

}  // namespace gridfold::load
