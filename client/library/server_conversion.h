// Answers about the server, from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_SERVER_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_SERVER_CONVERSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/library/wire_message.h"
#include "google/protobuf/empty.pb.h"
#include "gridfold/server_info.h"
#include "gridfold/v1/server_service.pb.h"

namespace gridfold::client {

ServerInfo FromProto(const v1::GetServerInfoResponse& response);
ServerStatistics FromProto(const v1::GetStatisticsResponse& response);

// The messages of grpc.health.v1 are not installed with gRPC. They have one field each, so they are
// written and read as unknown fields of an empty message.
WireMessage ToHealthCheckRequest(const std::string& service);
HealthStatus FromHealthCheckResponse(const google::protobuf::Empty& response);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_SERVER_CONVERSION_H_
