#include "kernels/contract/top.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/contiguous_groups.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

absl::StatusOr<TopPlan> PlanTop(const ArrayDescription& array, TopSpec spec) {
  if (spec.count == 0) return InvalidField("count", "at least one is needed");
  absl::StatusOr<Grouping> grouping = PlanContiguousGroups(array, std::move(spec.grouping));
  if (!grouping.ok()) return grouping.status();
  if (const auto smallest = FindSmallestGroup(*grouping)) {
    if (absl::Status status = CheckIsNotEmpty(*smallest); !status.ok()) return status;
    if (spec.count > smallest->size) {
      return InvalidField("count", absl::StrCat(spec.count, " are more than the ", smallest->size,
                                                " elements of group ", smallest->group));
    }
  }
  // Where there are no groups, nothing is selected.
  if (grouping->group_count == 0) spec.count = 0;
  return TopPlan{.array = array,
                 .count = spec.count,
                 .smallest = spec.smallest,
                 .grouping = *std::move(grouping),
                 .nan_policy = spec.nan_policy};
}

TopResult MakeTopResult(const TopPlan& plan) {
  return {.kind = ElementKind(plan.array.element_type),
          .slots = std::vector<uint64_t>(plan.result_count()),
          .indices = std::vector<uint64_t>(plan.result_count())};
}

absl::Status TooFewNumbers(const TopPlan& plan, uint64_t group) {
  return InvalidField("count", absl::StrCat("group ", group, " has fewer than ", plan.count,
                                            " elements that are not NaN, and NaNs are ignored"));
}

}  // namespace gridfold::kernels
