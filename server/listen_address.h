// Where a server listens: "host:port", with an IPv6 address in brackets. Pure functions;
// thread-safe.
#ifndef GRIDFOLD_SERVER_LISTEN_ADDRESS_H_
#define GRIDFOLD_SERVER_LISTEN_ADDRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gridfold::server {

struct HostAndPort {
  absl::string_view host;  // With its brackets, where it has some.
  absl::string_view port;  // Empty where there is none.
};

// Points into `listen`.
HostAndPort SplitListen(absl::string_view listen);

// Whether only this machine can connect to what listens there.
bool IsLoopback(absl::string_view listen);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_LISTEN_ADDRESS_H_
