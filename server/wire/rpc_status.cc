#include "server/wire/rpc_status.h"

#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gridfold/v1/error_details.pb.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"

namespace gridfold::server {

namespace {

constexpr char kErrorDomain[] = "gridfold";

// Not Any::PackFrom: the type URL is that of the public message with the same bytes.
template <class Message>
void AddDetail(const char* name, const Message& message, v1::RpcStatus& status) {
  google::protobuf::Any& detail = *status.add_details();
  detail.set_type_url(absl::StrCat("type.googleapis.com/google.rpc.", name));
  detail.set_value(message.SerializeAsString());
}

// A message that names its field begins with it; the detail says it in a field of its own.
std::string WithoutField(absl::string_view message, absl::string_view field) {
  const std::string prefix = absl::StrCat(field, ": ");
  if (absl::StartsWith(message, prefix)) message.remove_prefix(prefix.size());
  return std::string(message);
}

void AddBadRequest(const absl::Status& status, v1::RpcStatus& details) {
  const std::string field = kernels::FieldOf(status);
  if (field.empty()) return;
  v1::BadRequest bad_request;
  v1::BadRequest::FieldViolation& violation = *bad_request.add_field_violations();
  violation.set_field(field);
  violation.set_description(WithoutField(status.message(), field));
  AddDetail("BadRequest", bad_request, details);
}

void AddRetryInfo(const absl::Status& status, v1::RpcStatus& details) {
  const std::optional<std::chrono::milliseconds> delay = RetryDelayOf(status);
  if (!delay) return;
  v1::RetryInfo retry_info;
  retry_info.mutable_retry_delay()->set_seconds(delay->count() / 1000);
  retry_info.mutable_retry_delay()->set_nanos(
      static_cast<int32_t>(delay->count() % 1000 * 1'000'000));
  AddDetail("RetryInfo", retry_info, details);
}

}  // namespace

void FillRpcStatus(const absl::Status& status, v1::RpcStatus& wire) {
  // Both enumerations are those of the gRPC protocol, number for number.
  wire.set_code(static_cast<int32_t>(status.code()));
  wire.set_message(std::string(status.message()));
  if (status.ok()) return;
  v1::ErrorInfo error_info;
  error_info.set_reason(ReasonOf(status));
  error_info.set_domain(kErrorDomain);
  AddDetail("ErrorInfo", error_info, wire);
  AddBadRequest(status, wire);
  AddRetryInfo(status, wire);
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  v1::RpcStatus details;
  FillRpcStatus(status, details);
  return grpc::Status(static_cast<grpc::StatusCode>(details.code()), details.message(),
                      details.SerializeAsString());
}

}  // namespace gridfold::server
