// Where a server listens: "host:port", with an IPv6 address in brackets, or "unix:path". Pure
// functions; thread-safe.
#ifndef GRIDFOLD_SERVER_TRANSPORT_LISTEN_ADDRESS_H_
#define GRIDFOLD_SERVER_TRANSPORT_LISTEN_ADDRESS_H_

#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace gridfold::server {

struct HostAndPort {
  absl::string_view host;  // With its brackets, where it has some.
  absl::string_view port;  // Empty where there is none.
};

// Points into `listen`.
HostAndPort SplitListen(absl::string_view listen);

// Bytes of the path of a Unix socket, as the system bounds them; it ends them with a zero.
inline constexpr size_t kUnixPathBytesMax = sizeof(sockaddr_un{}.sun_path) - 1;

// The path of "unix:path" or "unix:///path", as gRPC's targets have it, which may be empty; none
// where the address is no Unix socket's.
std::optional<std::string> UnixPath(absl::string_view listen);

// Whether only this machine can connect to what listens there.
bool IsLoopback(absl::string_view listen);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_LISTEN_ADDRESS_H_
