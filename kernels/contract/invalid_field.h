// Errors that name the field at fault.
//
// A plan that cannot be made is an absl::InvalidArgumentError with a payload that holds the path of
// the field, in the names of the spec structs, which are those of the wire contract: for example
// "bins[0].even.upper_bound". Whoever answers the caller may put a prefix before it.
#ifndef GRIDFOLD_KERNELS_CONTRACT_INVALID_FIELD_H_
#define GRIDFOLD_KERNELS_CONTRACT_INVALID_FIELD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gridfold::kernels {

inline constexpr char kFieldPayloadUrl[] = "gridfold/field";

// INVALID_ARGUMENT "<field>: <description>", with `field` as payload.
absl::Status InvalidField(absl::string_view field, absl::string_view description);

// INVALID_ARGUMENT as InvalidField gives it, for a field that asks for more than a limit allows.
inline constexpr char kLimitPayloadUrl[] = "gridfold/limit";
absl::Status AboveLimit(absl::string_view field, absl::string_view description);
// RESOURCE_EXHAUSTED, of a job that is larger than a lane.
absl::Status LargerThanALane(absl::string_view description);
// Whether `status` is such an error, or a lane's refusal of a job that is larger than it: such a
// job fails whenever it comes, where one for which there was no memory may pass later.
bool IsAboveLimit(const absl::Status& status);

// The field that `status` names; empty where it names none.
std::string FieldOf(const absl::Status& status);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_INVALID_FIELD_H_
