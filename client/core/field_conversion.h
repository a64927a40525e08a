// Fields that structs of the C interface share, as the kernels have them: enumerations, values,
// arrays, groupings and policies. Everything is looked at, as conversion.h says; `field` and `name`
// are for the error. Thread-safe.
#ifndef GRIDFOLD_CLIENT_CORE_FIELD_CONVERSION_H_
#define GRIDFOLD_CLIENT_CORE_FIELD_CONVERSION_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/core/gridfold_core.h"
#include "client/core/last_error.h"
#include "kernels/contract/array.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/types/element_type.h"
#include "kernels/types/policies.h"

namespace gridfold::core {

// The enumerator of a number from `first` on.
template <class E>
absl::Status SetEnum(int32_t number, int32_t first, int32_t count, absl::string_view field,
                     E& value) {
  if (number < first || number - first >= count) {
    return kernels::InvalidField(field, absl::StrCat(number, " is not one of its values"));
  }
  value = static_cast<E>(number - first);
  return absl::OkStatus();
}

absl::Status SetElementType(gridfold_element_type number, absl::string_view field,
                            kernels::ElementType& type);

// Copies `count` values that stand at `values`.
template <class T>
absl::Status SetValues(const T* values, uint64_t count, absl::string_view field,
                       std::vector<T>& copy) {
  if (count == 0) return absl::OkStatus();
  if (absl::Status status = RequireArgument(values, field); !status.ok()) return status;
  if (count > std::numeric_limits<int64_t>::max() / sizeof(T)) {
    return kernels::InvalidField(field, "more values than memory holds");
  }
  copy.assign(values, values + count);
  return absl::OkStatus();
}

// The first of these that is one.
absl::Status FirstError(std::initializer_list<absl::Status> statuses);

absl::StatusOr<kernels::ArrayDescription> DescriptionOf(const gridfold_array* array,
                                                        const std::string& name);
// Whether another array goes with the samples: one element for each of theirs.
absl::StatusOr<kernels::ArrayDescription> CompanionOf(const kernels::ArrayDescription& samples,
                                                      const gridfold_array* array,
                                                      const std::string& name);
// An error where an array is no column beside x.
absl::Status CheckColumn(const kernels::ArrayDescription& x, uint64_t count,
                         const gridfold_array* array, const std::string& name);

absl::Status SetGrouping(const gridfold_grouping& grouping, kernels::GroupingSpec& spec);
absl::Status SetPolicies(gridfold_nan_policy nan_policy, gridfold_overflow_policy overflow_policy,
                         kernels::NanPolicy& nan, kernels::OverflowPolicy& overflow);

}  // namespace gridfold::core

#endif  // GRIDFOLD_CLIENT_CORE_FIELD_CONVERSION_H_
