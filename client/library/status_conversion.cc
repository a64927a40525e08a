#include "client/library/status_conversion.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/library/connection_error.h"

namespace gridfold::client {

namespace {

// Before a field of the request in a stream's first message.
constexpr absl::string_view kRequestField = "request.";

void AddDetails(const v1::RpcStatus& details, absl::Status& status) {
  for (const google::protobuf::Any& detail : details.details()) {
    status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
}

// Whether the call has found no connection, of which gRPC writes so.
bool IsWithoutConnection(const grpc::Status& status) {
  return status.error_details().empty() &&
         (absl::StartsWith(status.error_message(), "failed to connect to all addresses") ||
          absl::StartsWith(status.error_message(), "DNS resolution failed"));
}

}  // namespace

absl::Status ToAbslStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && IsWithoutConnection(status)) {
    return ConnectionError("no connection to the server",
                           ParseConnectionCause(status.error_message()));
  }
  absl::Status converted(static_cast<absl::StatusCode>(status.error_code()),
                         status.error_message());
  v1::RpcStatus details;
  if (details.ParseFromString(status.error_details())) AddDetails(details, converted);
  return converted;
}

absl::Status ToCallStatus(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::CANCELLED && status.error_details().empty()) {
    return absl::UnavailableError(absl::StrCat("the call was cut off: ", status.error_message()));
  }
  return ToAbslStatus(status);
}

absl::Status AsOfRequest(const absl::Status& status) {
  constexpr absl::string_view kDetail = "type.googleapis.com/google.rpc.BadRequest";
  const absl::optional<absl::Cord> detail = status.GetPayload(kDetail);
  v1::BadRequest violations;
  if (!detail || !violations.ParseFromString(std::string(*detail))) return status;
  for (auto& violation : *violations.mutable_field_violations()) {
    violation.set_field(std::string(absl::StripPrefix(violation.field(), kRequestField)));
  }
  absl::Status stripped(status.code(), absl::StripPrefix(status.message(), kRequestField));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    stripped.SetPayload(type, payload);
  });
  stripped.SetPayload(kDetail, absl::Cord(violations.SerializeAsString()));
  return stripped;
}

absl::Status ToAbslStatus(const v1::RpcStatus& status) {
  absl::Status converted(static_cast<absl::StatusCode>(status.code()), status.message());
  AddDetails(status, converted);
  return converted;
}

}  // namespace gridfold::client
