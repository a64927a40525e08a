// Who calls, by what the connection tells of it: for the log, never for a decision.
#ifndef GRIDFOLD_SERVER_CALLS_CALLER_ADDRESS_H_
#define GRIDFOLD_SERVER_CALLS_CALLER_ADDRESS_H_

#include <grpcpp/grpcpp.h>

#include <string>

namespace gridfold::server {

struct CallerAddress {
  std::string peer = "";  // "ipv4:10.0.0.7:41234", as gRPC names peers, or an edge's word for it.
  std::string certificate = "";  // Subject of the caller's certificate; empty where it has none.
};

// Behind an edge, which connects by the Unix socket (deploy/README.md, "Edge"), the caller is who
// the edge says: the last address of the header `x-forwarded-for`, and `x-client-certificate`.
// These headers count on a Unix socket only; by TCP any caller could write what it likes. Both are
// cut off at kCallerTextBytesMax.
CallerAddress AddressOfCaller(const grpc::CallbackServerContext& context);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_CALLER_ADDRESS_H_
