#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/work/group_quantiles.h"
#include "client/load/work/group_totals.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/known_values.h"

namespace gridfold::load {

KnownKeyedReduction ComputeKnownKeyedReduction(const RequestKind& kind,
                                               const OperationValues& values) {
  // Keys are the integers from 0 on, and each occurs.
  std::vector<GroupTotals> totals(kind.key_count);
  Groups groups(kind.key_count);
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    const auto key = static_cast<size_t>(values.keys[i]);
    totals[key].Add(values.elements[i], i);
    if (!kind.quantiles.empty()) groups[key].push_back(values.elements[i]);
  }
  KnownKeyedReduction known;
  if (kind.key_groups == KeyGroups::kFound) {
    std::vector<int64_t> keys(kind.key_count);
    std::iota(keys.begin(), keys.end(), 0);
    known.keys = OfElementKind(kind.key_type, keys);
  }
  for (const GroupTotals& group : totals) known.counts.push_back(group.count);
  known.entries = KnownStatistics(kind, totals);
  known.quantiles = QuantilesOf(kind, std::move(groups));
  return known;
}

std::string Difference(const KnownKeyedReduction& known,
                       const client::KeyedReductionResult& result) {
  if (result.group_count != known.counts.size()) {
    return absl::StrCat(result.group_count, " groups, not ", known.counts.size());
  }
  if (!AreSame(result.keys, known.keys)) return "the keys are wrong";
  if (result.counts != known.counts) return "the counts are wrong";
  const std::string difference = Difference(known.entries, result.entries);
  return difference.empty() ? QuantileDifference(known.quantiles, result.quantile_values)
                            : difference;
}

}  // namespace gridfold::load
