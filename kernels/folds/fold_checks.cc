#include "kernels/folds/fold_checks.h"

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/lane_limits.h"

namespace gridfold::kernels {

ReductionPlan PlanOfBatches(const ReductionPlan& plan) {
  return {.array = {},
          .statistics = plan.statistics,
          .grouping = {},
          .nan_policy = plan.nan_policy,
          .overflow_policy = plan.overflow_policy,
          .delta_degrees_of_freedom = plan.delta_degrees_of_freedom};
}

ReductionPlan PlanOfParts(const ReductionPlan& plan) {
  ReductionPlan part = PlanStates(PlanOfBatches(plan));
  part.array.element_type = plan.array.element_type;
  part.overflow_policy = OverflowPolicy::kWrap;
  return part;
}

absl::Status CheckRow(const ReductionFoldSpec& spec) {
  const uint64_t row_bytes = spec.plan.array.columns * ElementSize(spec.plan.array.element_type);
  if (row_bytes > spec.lane.input_bytes_max) {
    return AboveLimit("array.streamed_array.column_count",
                      absl::StrCat("a row of ", row_bytes, " bytes is more than the ",
                                   spec.lane.input_bytes_max, " that a job may have"));
  }
  const uint64_t state_bytes_max =
      spec.lane.output_bytes_max / OutputBytesPerGroup(PlanOfParts(spec.plan));
  if (spec.plan.grouping.group_count <= state_bytes_max) return absl::OkStatus();
  return AboveLimit("grouping.axis",
                    absl::StrCat(spec.plan.grouping.group_count, " columns are more than the ",
                                 state_bytes_max, " that can be reduced in a stream"));
}

absl::Status CheckWholeRows(const ReductionPlan& plan, uint64_t size_bytes) {
  const uint64_t element_bytes = ElementSize(plan.array.element_type);
  if (size_bytes % element_bytes != 0) {
    return InvalidField("data",
                        absl::StrCat(size_bytes, " bytes are not a multiple of the ", element_bytes,
                                     " bytes of one ", ElementTypeName(plan.array.element_type)));
  }
  const uint64_t element_count = size_bytes / element_bytes;
  if (plan.array.is_matrix && element_count % plan.array.columns != 0) {
    return InvalidField("data", absl::StrCat(element_count, " elements are not whole rows of ",
                                             plan.array.columns));
  }
  return absl::OkStatus();
}

absl::Status WrongElementCount(const ReductionPlan& plan, const std::string& count) {
  return InvalidField(
      absl::StrCat("grouping.segments.offsets[", plan.grouping.offsets.size() - 1, "]"),
      absl::StrCat("the last offset must be the number of elements, ", count));
}

absl::Status TooManyRows(uint64_t group_count_max) {
  return AboveLimit("grouping.axis", absl::StrCat("more rows than the ", group_count_max,
                                                  " groups that an answer may have"));
}

absl::Status IndicesTooLarge() {
  return InvalidField("first_index", "the indices of the elements do not fit in 64 bits");
}

}  // namespace gridfold::kernels
