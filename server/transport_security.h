// TLS between the server and its callers, from files that are reloaded when they change.
#ifndef GRIDFOLD_SERVER_TRANSPORT_SECURITY_H_
#define GRIDFOLD_SERVER_TRANSPORT_SECURITY_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "server/security_options.h"

namespace gridfold::server {

// Checks the files and keeps watching them: connections made kFileCheckInterval after a change use
// the new files, open ones are not affected. While certificate and key do not match, as when they
// are replaced one after the other, no new connection is accepted. Errors: INVALID_ARGUMENT where
// the files are unusable now.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const TlsFiles& files);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_SECURITY_H_
