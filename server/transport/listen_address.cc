#include "server/transport/listen_address.h"

#include <arpa/inet.h>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace gridfold::server {

HostAndPort SplitListen(absl::string_view listen) {
  const size_t colon = listen.rfind(':');
  if (colon == absl::string_view::npos) return {listen, ""};
  return {listen.substr(0, colon), listen.substr(colon + 1)};
}

std::optional<std::string> UnixPath(absl::string_view listen) {
  if (!absl::ConsumePrefix(&listen, "unix:")) return std::nullopt;
  if (absl::StartsWith(listen, "///")) listen.remove_prefix(2);
  return std::string(listen);
}

bool IsLoopback(absl::string_view listen) {
  if (UnixPath(listen)) return true;
  const std::string host(SplitListen(listen).host);
  // A name may begin with the digits of a loopback address and mean another one.
  in_addr address = {};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return (ntohl(address.s_addr) >> 24) == 127;
  return host == "localhost" || host == "[::1]";
}

}  // namespace gridfold::server
