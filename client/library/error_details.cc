#include "gridfold/error_details.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/library/proto_time.h"
#include "gridfold/v1/error_details.pb.h"

namespace gridfold::client {
namespace {

// The detail of google.rpc's `type_name`, in the message of our own that has the same bytes.
template <typename Message>
std::optional<Message> FindDetail(const absl::Status& status, absl::string_view type_name) {
  const auto payload =
      status.GetPayload(absl::StrCat("type.googleapis.com/google.rpc.", type_name));
  Message message;
  if (!payload.has_value() || !message.ParseFromString(std::string(*payload))) return std::nullopt;
  return message;
}

}  // namespace

std::optional<std::string> ViolatedField(const absl::Status& status) {
  const auto detail = FindDetail<v1::BadRequest>(status, "BadRequest");
  if (!detail.has_value() || detail->field_violations().empty()) return std::nullopt;
  return detail->field_violations(0).field();
}

std::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  const auto detail = FindDetail<v1::RetryInfo>(status, "RetryInfo");
  if (!detail.has_value() || !detail->has_retry_delay()) return std::nullopt;
  return FromProto(detail->retry_delay());
}

std::optional<std::string> ErrorReason(const absl::Status& status) {
  const auto detail = FindDetail<v1::ErrorInfo>(status, "ErrorInfo");
  if (!detail.has_value()) return std::nullopt;
  return detail->reason();
}

}  // namespace gridfold::client
