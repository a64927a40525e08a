#include "kernels/contract/weighted_quantiles.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

absl::StatusOr<WeightedQuantilePlan> PlanWeightedQuantiles(const ArrayDescription& array,
                                                           const ArrayDescription& weights,
                                                           WeightedQuantileSpec spec) {
  if (weights.element_count != array.element_count) {
    return InvalidField(
        "weights",
        absl::StrCat(weights.element_count, " elements, where `array` has ", array.element_count));
  }
  absl::StatusOr<QuantilePlan> elements =
      PlanQuantiles(array, {.quantiles = std::move(spec.quantiles),
                            .method = QuantileMethod::kLower,
                            .grouping = std::move(spec.grouping),
                            .nan_policy = spec.nan_policy});
  if (!elements.ok()) return elements.status();
  return WeightedQuantilePlan{.elements = *std::move(elements),
                              .weight_type = weights.element_type};
}

absl::Status FaultyWeight(uint64_t index, const char* fault) {
  return InvalidField("weights", absl::StrCat("that of element ", index, " is ", fault));
}

absl::Status WeightsAreZero(uint64_t group) {
  return InvalidField("weights", absl::StrCat("those of group ", group, " are all 0"));
}

}  // namespace gridfold::kernels
