// From absl::Status to what a gRPC caller sees. The only place that maps one to the other.
#ifndef GRIDFOLD_SERVER_WIRE_RPC_STATUS_H_
#define GRIDFOLD_SERVER_WIRE_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "gridfold/v1/error_details.pb.h"

namespace gridfold::server {

// The bytes of a google.rpc.Status: same code and message and, of errors, the details that
// ToGrpcStatus says. Thread-safe.
void FillRpcStatus(const absl::Status& status, v1::RpcStatus& wire);

// Same code and message. Errors carry the bytes of a google.rpc.Status as details, which gRPC sends
// as the trailer grpc-status-details-bin: always an ErrorInfo with a reason of base/error_reason.h
// and the domain "gridfold"; a BadRequest where the status names a field; a RetryInfo where it says
// how long to wait. Thread-safe.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_RPC_STATUS_H_
