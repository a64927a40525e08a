#include "kernels/contract/quantiles.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/contiguous_groups.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

namespace {

absl::Status ValidateTargets(const QuantileSpec& spec) {
  const size_t count = spec.quantiles.size() + spec.ranks.size();
  if (count == 0) return InvalidField("quantiles", "at least one is needed, or a rank");
  if (count > kQuantilesMax) {
    return AboveLimit(spec.quantiles.size() > kQuantilesMax ? "quantiles" : "ranks",
                      absl::StrCat(count, " quantiles and ranks are more than the ", kQuantilesMax,
                                   " that a request may have"));
  }
  for (size_t i = 0; i < spec.quantiles.size(); ++i) {
    if (spec.quantiles[i] >= 0 && spec.quantiles[i] <= 1) continue;  // NaN is neither.
    return InvalidField(absl::StrCat("quantiles[", i, "]"),
                        absl::StrCat(spec.quantiles[i], " is not from 0 to 1"));
  }
  return absl::OkStatus();
}

absl::Status ValidateRanks(const std::vector<uint64_t>& ranks, const SmallestGroup& smallest) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < smallest.size) continue;
    return InvalidField(absl::StrCat("ranks[", i, "]"),
                        absl::StrCat(ranks[i], " is not smaller than the ", smallest.size,
                                     " elements of group ", smallest.group));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<QuantilePlan> PlanQuantiles(const ArrayDescription& array, QuantileSpec spec) {
  if (absl::Status status = ValidateTargets(spec); !status.ok()) return status;
  absl::StatusOr<Grouping> grouping = PlanContiguousGroups(array, std::move(spec.grouping));
  if (!grouping.ok()) return grouping.status();
  if (const auto smallest = FindSmallestGroup(*grouping)) {
    if (absl::Status status = CheckIsNotEmpty(*smallest); !status.ok()) return status;
    if (absl::Status status = ValidateRanks(spec.ranks, *smallest); !status.ok()) return status;
  }
  QuantilePlan plan{.array = array,
                    .targets = {},
                    .quantile_count = spec.quantiles.size(),
                    .method = spec.method,
                    .grouping = *std::move(grouping),
                    .nan_policy = spec.nan_policy};
  for (const double quantile : spec.quantiles) plan.targets.push_back({.quantile = quantile});
  for (const uint64_t rank : spec.ranks) plan.targets.push_back({.is_rank = true, .rank = rank});
  return plan;
}

ValueKind KindOfTarget(const QuantilePlan& plan, size_t target) {
  if (!plan.targets[target].is_rank && Interpolates(plan.method)) return ValueKind::kDouble;
  return ElementKind(plan.array.element_type);
}

}  // namespace gridfold::kernels
