#include "client/library/status_conversion.h"

#include <string>

#include "absl/strings/cord.h"
#include "gridfold/v1/error_details.pb.h"

namespace gridfold::client {

absl::Status ToAbslStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status converted(static_cast<absl::StatusCode>(status.error_code()),
                         status.error_message());
  v1::RpcStatus details;
  if (details.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& detail : details.details()) {
      converted.SetPayload(detail.type_url(), absl::Cord(detail.value()));
    }
  }
  return converted;
}

}  // namespace gridfold::client
