// From the parts of a request that describe arrays to views that kernels take. Pure functions;
// thread-safe. Views point into the messages, which must outlive them.
#ifndef GRIDFOLD_SERVER_ARRAY_VALIDATION_H_
#define GRIDFOLD_SERVER_ARRAY_VALIDATION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/v1/array.pb.h"
#include "kernels/array.h"
#include "server/limits.h"

namespace gridfold::server {

struct InputArray {
  kernels::ArrayDescription description;
  kernels::HostSpan data;
};

// `field` is the path of `source` in the request. Errors (INVALID_ARGUMENT, field named): no
// source; no or an unknown element type; data that is not whole elements; a shape of more than two
// extents or of another number of elements.
absl::StatusOr<InputArray> ValidateArray(const v1::ArraySource& source, absl::string_view field);

// The grouping that a request asks for; whether it fits the array is left to kernels::PlanGrouping.
// Errors (INVALID_ARGUMENT, field named): an axis other than 0 or 1; more groups than the limit.
absl::StatusOr<kernels::GroupingSpec> ValidateGrouping(const v1::Grouping& grouping,
                                                       const kernels::ArrayDescription& array,
                                                       const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_ARRAY_VALIDATION_H_
