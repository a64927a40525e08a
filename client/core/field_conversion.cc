#include "client/core/field_conversion.h"

namespace gridfold::core {

namespace {

using kernels::InvalidField;

static_assert(GRIDFOLD_FLOAT64 == kernels::kElementTypeCount);

}  // namespace

absl::Status SetElementType(gridfold_element_type number, absl::string_view field,
                            kernels::ElementType& type) {
  return SetEnum(number, GRIDFOLD_INT8, kernels::kElementTypeCount, field, type);
}

absl::Status FirstError(std::initializer_list<absl::Status> statuses) {
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<kernels::ArrayDescription> DescriptionOf(const gridfold_array* array,
                                                        const std::string& name) {
  if (absl::Status status = RequireArgument(array, name); !status.ok()) return status;
  kernels::ElementType type{};
  absl::Status status = SetElementType(array->element_type, name + ".element_type", type);
  if (!status.ok()) return status;
  if (array->dimension_count != 1 && array->dimension_count != 2) {
    return InvalidField(name + ".dimension_count",
                        absl::StrCat(array->dimension_count, ", where 1 or 2 are possible"));
  }
  const bool is_matrix = array->dimension_count == 2;
  uint64_t element_count = array->shape[0];
  uint64_t size_bytes = 0;
  if (__builtin_mul_overflow(element_count, is_matrix ? array->shape[1] : 1, &element_count) ||
      __builtin_mul_overflow(element_count, kernels::ElementSize(type), &size_bytes) ||
      size_bytes > std::numeric_limits<int64_t>::max()) {
    return InvalidField(name + ".shape", "more elements than memory holds");
  }
  if (size_bytes > 0) {
    if (status = RequireArgument(array->data, name + ".data"); !status.ok()) return status;
  }
  return is_matrix ? kernels::ArrayDescription::Matrix(type, array->shape[0], array->shape[1])
                   : kernels::ArrayDescription::Vector(type, element_count);
}

absl::StatusOr<kernels::ArrayDescription> CompanionOf(const kernels::ArrayDescription& samples,
                                                      const gridfold_array* array,
                                                      const std::string& name) {
  absl::StatusOr<kernels::ArrayDescription> description = DescriptionOf(array, name);
  if (!description.ok()) return description;
  if (description->is_matrix || description->element_count != samples.element_count) {
    return InvalidField(name, absl::StrCat("must have one dimension and ", samples.element_count,
                                           " elements, as the first array has"));
  }
  return description;
}

absl::Status CheckColumn(const kernels::ArrayDescription& x, uint64_t count,
                         const gridfold_array* array, const std::string& name) {
  const absl::StatusOr<kernels::ArrayDescription> description = DescriptionOf(array, name);
  if (!description.ok()) return description.status();
  if (description->element_type != x.element_type) {
    return InvalidField(name + ".element_type", "must be that of columns.x");
  }
  if (description->is_matrix || description->element_count != count) {
    return InvalidField(name, absl::StrCat("must have one dimension and ", count, " elements"));
  }
  return absl::OkStatus();
}

absl::Status SetGrouping(const gridfold_grouping& grouping, kernels::GroupingSpec& spec) {
  return FirstError(
      {SetEnum(grouping.kind, GRIDFOLD_WHOLE, 4, "grouping.kind", spec.kind),
       SetValues(grouping.offsets, grouping.offset_count, "grouping.offsets", spec.offsets)});
}

absl::Status SetPolicies(gridfold_nan_policy nan_policy, gridfold_overflow_policy overflow_policy,
                         kernels::NanPolicy& nan, kernels::OverflowPolicy& overflow) {
  return FirstError({SetEnum(nan_policy, 0, 2, "nan_policy", nan),
                     SetEnum(overflow_policy, 0, 2, "overflow_policy", overflow)});
}

}  // namespace gridfold::core
