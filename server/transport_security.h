// How the server and its callers know each other on the wire: TLS, from files that are read again
// when they change.
#ifndef GRIDFOLD_SERVER_TRANSPORT_SECURITY_H_
#define GRIDFOLD_SERVER_TRANSPORT_SECURITY_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "server/security_options.h"

namespace gridfold::server {

// Checks the files and keeps watching them: connections that are made kFileCheckInterval after a
// change use the new ones, those that are open stay as they are. While files do not belong
// together, as between two that are replaced one after the other, no new connection is accepted.
// Errors: INVALID_ARGUMENT where the files make no sense now.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const TlsFiles& files);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_SECURITY_H_
