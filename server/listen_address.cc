#include "server/listen_address.h"

#include <arpa/inet.h>

namespace gridfold::server {

HostAndPort SplitListen(absl::string_view listen) {
  const size_t colon = listen.rfind(':');
  if (colon == absl::string_view::npos) return {listen, ""};
  return {listen.substr(0, colon), listen.substr(colon + 1)};
}

bool IsLoopback(absl::string_view listen) {
  const std::string host(SplitListen(listen).host);
  // A name may begin with the digits of a loopback address and mean another one.
  in_addr address = {};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return (ntohl(address.s_addr) >> 24) == 127;
  return host == "localhost" || host == "[::1]";
}

}  // namespace gridfold::server
