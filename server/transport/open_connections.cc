#include "server/transport/open_connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"

namespace gridfold::server {

namespace {

std::vector<int> OpenDescriptors() {
  std::vector<int> descriptors;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    int descriptor = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &descriptor)) {
      descriptors.push_back(descriptor);
    }
  }
  return descriptors;
}

// TCP_ESTABLISHED of <netinet/tcp.h>, whose tcp_info says less than that of Linux.
constexpr uint8_t kEstablished = 1;

// None of a descriptor that is no connection's by TCP.
std::optional<tcp_info> TcpInfoOf(int descriptor) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  // Linux before 4.19 does not say what was sent.
  const bool is_whole = size >= offsetof(tcp_info, tcpi_bytes_sent) + sizeof(info.tcpi_bytes_sent);
  if (!is_whole) return std::nullopt;
  return info;
}

}  // namespace

uint64_t CookieOf(int descriptor) {
  uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

std::optional<ConnectionActivity> ActivityOf(int descriptor) {
  const std::optional<tcp_info> info = TcpInfoOf(descriptor);
  if (!info) return std::nullopt;
  return ConnectionActivity{.has_ended = info->tcpi_state != kEstablished,
                            .received_bytes = info->tcpi_bytes_received,
                            .idle = std::chrono::milliseconds(
                                std::min(info->tcpi_last_data_recv, info->tcpi_last_data_sent))};
}

int PortOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.ss_family == AF_UNIX) {
    return 0;
  }
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::vector<OpenConnection> OpenConnections(int port) {
  std::vector<OpenConnection> connections;
  for (const int descriptor : OpenDescriptors()) {
    const uint64_t cookie = CookieOf(descriptor);
    const std::optional<tcp_info> info = cookie == 0 ? std::nullopt : TcpInfoOf(descriptor);
    if (!info || info->tcpi_state != kEstablished || PortOf(descriptor) != port) continue;
    connections.push_back({.descriptor = descriptor,
                           .cookie = cookie,
                           .sent_bytes = info->tcpi_bytes_sent,
                           .received_bytes = info->tcpi_bytes_received});
  }
  return connections;
}

void AbortConnection(int descriptor) {
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  connect(descriptor, &nobody, sizeof(nobody));
}

}  // namespace gridfold::server
