#include "absl/strings/str_cat.h"
#include "client/load/work/group_totals.h"
#include "client/load/work/group_walk.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/known_values.h"

namespace gridfold::load {

KnownReduction ComputeKnownReduction(const RequestKind& kind, const OperationValues& values) {
  GroupWalk walk(kind, values);
  std::vector<GroupTotals> groups(walk.group_count());
  // Those that do not count have a place too.
  std::vector<uint64_t> places(groups.size());
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    const uint64_t group = walk.GroupOf(i);
    const uint64_t place = places[group]++;
    if (values.counts(i)) groups[group].Add(values.elements[i], place);
  }
  return {.group_count = groups.size(),
          .entries = KnownStatistics(kind, groups),
          .result_shape = ResultShape(kind, values)};
}

std::string Difference(const KnownReduction& known, const client::ReductionResult& result) {
  if (result.group_count != known.group_count) {
    return absl::StrCat(result.group_count, " groups, not ", known.group_count);
  }
  const std::string difference = Difference(known.entries, result.entries);
  return difference.empty() ? ShapeDifference(known.result_shape, result.result_shape) : difference;
}

}  // namespace gridfold::load
