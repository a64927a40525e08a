// The rule of bool elements: each is 0 or 1.
#ifndef GRIDFOLD_SERVER_COMPUTE_TRUTH_CHECK_H_
#define GRIDFOLD_SERVER_COMPUTE_TRUTH_CHECK_H_

#include <stop_token>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/contract/engine.h"
#include "server/planning/array_validation.h"

namespace gridfold::server {

// OK where the elements of an array are not bool, or follow the rule. Reads all of them. Errors:
// INVALID_ARGUMENT that names the array; those of kernels::Lane.
absl::Status CheckTruths(const InputArray& array, kernels::Lane& lane, const std::stop_token& stop);

// The same of an array that is bool and arrives in the field of messages of a stream.
absl::Status CheckTruths(const kernels::HostSlices& elements, absl::string_view field,
                         const std::stop_token& stop);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_TRUTH_CHECK_H_
