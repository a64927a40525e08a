#include "kernels/contract/contiguous_groups.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

absl::StatusOr<Grouping> PlanContiguousGroups(const ArrayDescription& array, GroupingSpec spec) {
  if (spec.kind == GroupingKind::kAxis0) {
    return absl::InternalError("columns were not made rows");
  }
  return PlanGrouping(array, std::move(spec));
}

absl::Status CheckIsNotEmpty(const SmallestGroup& smallest) {
  if (smallest.size > 0) return absl::OkStatus();
  return InvalidField("array", absl::StrCat("there are no elements in group ", smallest.group,
                                            ", and an order of none has no values"));
}

ValueKind ElementKind(ElementType type) { return ValueKindOf(Statistic::kMax, type); }

}  // namespace gridfold::kernels
