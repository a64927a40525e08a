#include "server/transport/transport_calls.h"

#include <arpa/inet.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gridfold::server {

namespace {

using Json = nlohmann::json;

// Null where there is none.
Json Parse(char* text) {
  if (text == nullptr) return nullptr;
  Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  gpr_free(text);
  return parsed;
}

// Numbers of 64 bits are texts, and 0 is left out.
int64_t Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  int64_t number = 0;
  if (found != object.end() && found->is_string()) {
    (void)absl::SimpleAtoi(found->get<std::string>(), &number);
  }
  return number;
}

uint64_t NotNegative(int64_t number) { return number < 0 ? 0 : static_cast<uint64_t>(number); }

const Json& Member(const Json& object, const char* name) {
  static const Json kNone = Json::object();
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

std::vector<Json> Servers() {
  std::vector<Json> servers;
  int64_t next = 0;
  while (true) {
    const Json page = Parse(grpc_channelz_get_servers(next));
    const Json& listed = Member(page, "server");
    for (const Json& server : listed) {
      next = Number(Member(server, "ref"), "serverId") + 1;
      servers.push_back(server);
    }
    if (listed.empty() || page.contains("end")) return servers;
  }
}

// `name` ends with the other end.
void AddSocket(const Json& reference, std::unordered_map<std::string, uint64_t>& calls) {
  const Json socket = Parse(grpc_channelz_get_socket(Number(reference, "socketId")));
  const Json& data = Member(Member(socket, "socket"), "data");
  const int64_t open = Number(data, "streamsStarted") - Number(data, "streamsSucceeded") -
                       Number(data, "streamsFailed");
  if (open <= 0) return;
  const Json& name = Member(reference, "name");
  if (!name.is_string()) return;
  const std::string text = name.get<std::string>();
  calls[text.substr(text.rfind(' ') + 1)] += static_cast<uint64_t>(open);
}

}  // namespace

uint64_t OpenTransportCalls() {
  uint64_t calls = 0;
  for (const Json& server : Servers()) {
    const Json& data = Member(server, "data");
    calls += NotNegative(Number(data, "callsStarted") - Number(data, "callsSucceeded") -
                         Number(data, "callsFailed"));
  }
  return calls;
}

std::unordered_map<std::string, uint64_t> OpenTransportCallsByPeer() {
  std::unordered_map<std::string, uint64_t> calls;
  for (const Json& server : Servers()) {
    const int64_t server_id = Number(Member(server, "ref"), "serverId");
    int64_t next = 0;
    while (true) {
      const Json page = Parse(grpc_channelz_get_server_sockets(server_id, next, 0));
      const Json& sockets = Member(page, "socketRef");
      for (const Json& reference : sockets) {
        next = Number(reference, "socketId") + 1;
        AddSocket(reference, calls);
      }
      if (sockets.empty() || page.contains("end")) break;
    }
  }
  return calls;
}

std::string PeerOf(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof(text));
    return absl::StrCat("ipv4:", text, ":", ntohs(ipv4.sin_port));
  }
  if (address.ss_family != AF_INET6) return "";
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof(text));
  // gRPC names an IPv4 address that an IPv6 socket took as what it is.
  absl::string_view mapped(text);
  if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr) && absl::ConsumePrefix(&mapped, "::ffff:")) {
    return absl::StrCat("ipv4:", mapped, ":", ntohs(ipv6.sin6_port));
  }
  return absl::StrCat("ipv6:%5B", text, "%5D:", ntohs(ipv6.sin6_port));
}

}  // namespace gridfold::server
