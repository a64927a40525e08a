#include "kernels/contract/invalid_field.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace gridfold::kernels {

absl::Status InvalidField(absl::string_view field, absl::string_view description) {
  absl::Status status = absl::InvalidArgumentError(absl::StrCat(field, ": ", description));
  status.SetPayload(kFieldPayloadUrl, absl::Cord(field));
  return status;
}

absl::Status AboveLimit(absl::string_view field, absl::string_view description) {
  absl::Status status = InvalidField(field, description);
  status.SetPayload(kLimitPayloadUrl, absl::Cord());
  return status;
}

absl::Status LargerThanALane(absl::string_view description) {
  absl::Status status = absl::ResourceExhaustedError(description);
  status.SetPayload(kLimitPayloadUrl, absl::Cord());
  return status;
}

bool IsAboveLimit(const absl::Status& status) {
  return status.GetPayload(kLimitPayloadUrl).has_value();
}

std::string FieldOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kFieldPayloadUrl);
  return payload.has_value() ? std::string(*payload) : std::string();
}

}  // namespace gridfold::kernels
