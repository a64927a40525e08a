// How a client knows its server, and the server its client.
#ifndef GRIDFOLD_CLIENT_LIBRARY_SECURITY_H_
#define GRIDFOLD_CLIENT_LIBRARY_SECURITY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gridfold/client_options.h"
#include "grpcpp/security/credentials.h"

namespace gridfold::client {

// Whether a header's value may be this: printable characters of ASCII without spaces.
bool IsHeaderText(const std::string& text);

// INVALID_ARGUMENT where what the options say of encryption and tokens does not go together, or
// would send a token over a network without encryption.
absl::Status CheckSecurity(const ClientOptions& options);

// Reads the files of ClientOptions::tls. INVALID_ARGUMENT where one cannot be read. Requires that
// CheckSecurity finds nothing.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ClientOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_SECURITY_H_
