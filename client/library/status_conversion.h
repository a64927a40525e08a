// From gRPC's statuses to Abseil's.
#ifndef GRIDFOLD_CLIENT_LIBRARY_STATUS_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_STATUS_CONVERSION_H_

#include "absl/status/status.h"
#include "gridfold/v1/error_details.pb.h"
#include "grpcpp/support/status.h"

namespace gridfold::client {

// The same code and message. The details of `grpc-status-details-bin` become payloads, read by
// gridfold/error_details.h; details that do not parse are left out.
absl::Status ToAbslStatus(const grpc::Status& status);

// The same of a call that nothing here cancels, but for CANCELLED without details, which becomes
// UNAVAILABLE. A server that stops cuts off calls that are just arriving, and gRPC makes CANCELLED
// of that; the server's own brings details. So it is a connection's end like others, which may be
// tried again.
absl::Status ToCallStatus(const grpc::Status& status);

// The error of a stream, whose field is that of a request inside its first message, as that of the
// request: "request.bins[0]" becomes "bins[0]".
absl::Status AsOfRequest(const absl::Status& status);

// As ToAbslStatus, of a status inside a message.
absl::Status ToAbslStatus(const v1::RpcStatus& status);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_STATUS_CONVERSION_H_
