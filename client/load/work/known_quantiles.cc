#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/work/group_quantiles.h"
#include "client/load/work/group_walk.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/known_values.h"

namespace gridfold::load {

KnownQuantiles ComputeKnownQuantiles(const RequestKind& kind, const OperationValues& values) {
  Groups groups = GroupElements(kind, values);
  const uint64_t group_count = groups.size();
  return {.group_count = group_count,
          .values = QuantilesOf(kind, std::move(groups)),
          .result_shape = ResultShape(kind, values)};
}

std::string Difference(const KnownQuantiles& known, const client::QuantileResult& result) {
  if (result.group_count != known.group_count) {
    return absl::StrCat(result.group_count, " groups, not ", known.group_count);
  }
  const std::string difference = QuantileDifference(known.values, result.quantile_values);
  return difference.empty() ? ShapeDifference(known.result_shape, result.result_shape) : difference;
}

}  // namespace gridfold::load
