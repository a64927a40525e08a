// Targets: the text that says where a server is.
#ifndef GRIDFOLD_CLIENT_LIBRARY_TARGET_H_
#define GRIDFOLD_CLIENT_LIBRARY_TARGET_H_

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace gridfold::client {

// INVALID_ARGUMENT where a target is empty, is a URL such as "http://host:port", or has a port that
// is none: gRPC takes such a text for the name of a host, and such a port modulo 65,536.
absl::Status CheckTarget(const std::string& target);

// The target with gridfold's own port, 50051, wherever an address names none: gRPC would take 443.
// "::1" without brackets, and what another scheme or another name server resolves, stay as they
// are.
std::string WithDefaultPort(const std::string& target);

// Whether what is sent to a target stays on this machine.
bool IsLocalTarget(const std::string& target);

// A proxy that the environment names.
struct Proxy {
  std::string variable;  // Which names it.
  std::string address;   // Without a password.
};

// The proxy that gRPC uses for a target by the environment (grpc_proxy, https_proxy, http_proxy,
// and no_grpc_proxy, no_proxy, of which the first that is set counts); nothing where there is none.
// What stays on this machine goes through no proxy.
std::optional<Proxy> ProxyOf(const std::string& target);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_TARGET_H_
