#include "kernels/contract/statistic_error.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

absl::Status StatisticError(const ReductionPlan& plan, size_t statistic_index, uint64_t group,
                            ValueOutcome outcome) {
  std::string name = StatisticName(plan.statistics[statistic_index]);
  if (plan.grouping.kind != GroupingKind::kWhole)
    absl::StrAppend(&name, " of group ", plan.first_group + group);
  if (outcome == ValueOutcome::kOverflow) {
    return absl::OutOfRangeError(absl::StrCat(
        name, " does not fit in ", ElementTypeName(AccumulatorType(plan.array.element_type))));
  }
  return InvalidField(absl::StrCat("statistics[", statistic_index, "]"),
                      absl::StrCat(name, ": every element is an ignored NaN"));
}

}  // namespace gridfold::kernels
