#include "server/testing/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace gridfold::server {

namespace {

sockaddr_in LoopbackAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Tells the other side of a broken connection, not of an orderly end.
void Reset(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(socket);
}

bool SendAll(int socket, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

CuttingProxy::CuttingProxy(int server_port, uint64_t bytes_to_server_max)
    : bytes_to_server_max_(bytes_to_server_max),
      listener_(socket(AF_INET, SOCK_STREAM, 0)),
      stop_event_(eventfd(0, 0)) {
  sockaddr_in address = LoopbackAddress(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_, 1) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this, server_port] { Run(server_port); });
}

CuttingProxy::~CuttingProxy() {
  eventfd_write(stop_event_, 1);
  thread_.join();
  close(stop_event_);
}

void CuttingProxy::Run(int server_port) {
  pollfd waits[] = {{listener_, POLLIN, 0}, {stop_event_, POLLIN, 0}};
  poll(waits, std::size(waits), -1);
  const int client = waits[0].revents != 0 ? accept(listener_, nullptr, nullptr) : -1;
  close(listener_);
  if (client < 0) return;
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = LoopbackAddress(server_port);
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    Pass(client, server);
  }
  Reset(client);
  Reset(server);
}

void CuttingProxy::Pass(int client, int server) {
  uint64_t left = bytes_to_server_max_;
  char buffer[16384];
  for (;;) {
    pollfd waits[] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {stop_event_, POLLIN, 0}};
    poll(waits, std::size(waits), -1);
    if (waits[2].revents != 0) return;
    if (waits[0].revents != 0) {
      const ssize_t received = recv(client, buffer, std::min<uint64_t>(sizeof(buffer), left), 0);
      if (received <= 0 || !SendAll(server, buffer, static_cast<size_t>(received))) return;
      left -= static_cast<uint64_t>(received);
      if (left == 0) return;
    }
    if (waits[1].revents != 0) {
      const ssize_t received = recv(server, buffer, sizeof(buffer), 0);
      if (received <= 0 || !SendAll(client, buffer, static_cast<size_t>(received))) return;
    }
  }
}

}  // namespace gridfold::server
