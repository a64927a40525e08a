// TLS between the server and its callers.
#ifndef GRIDFOLD_SERVER_TRANSPORT_TRANSPORT_SECURITY_H_
#define GRIDFOLD_SERVER_TRANSPORT_TRANSPORT_SECURITY_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/transport/certificate_store.h"

namespace gridfold::server {

// Credentials with which every handshake uses the certificates that `store` has then; connections
// that are open are not affected by a change. Clients need a certificate of an authority where the
// store has authorities. Null for connections in the clear. Store and credentials must outlive the
// gRPC server.
//
// gRPC 1.51's own watcher of files ends the program when it finds one empty; so the server has a
// reader of its own, and gRPC gets nothing but what was checked.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const CertificateStore* store);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_TRANSPORT_SECURITY_H_
