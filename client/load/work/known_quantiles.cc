#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/work/group_quantiles.h"
#include "client/load/work/group_walk.h"
#include "client/load/work/known_answer.h"

namespace gridfold::load {

KnownQuantiles ComputeKnownQuantiles(const RequestKind& kind, const OperationValues& values) {
  Groups groups = GroupElements(kind, values);
  const uint64_t group_count = groups.size();
  return {.group_count = group_count, .values = QuantilesOf(kind, std::move(groups))};
}

std::string Difference(const KnownQuantiles& known, const client::QuantileResult& result) {
  if (result.group_count != known.group_count) {
    return absl::StrCat(result.group_count, " groups, not ", known.group_count);
  }
  return QuantileDifference(known.values, result.quantile_values);
}

}  // namespace gridfold::load
