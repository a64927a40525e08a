#include "client/library/stalling_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

// SETTINGS with an initial stream window of 2^31 - 1, then WINDOW_UPDATE of the connection to the
// same, then the acknowledgement of the client's settings.
constexpr unsigned char kGreeting[] = {
    0, 0, 6, 4, 0, 0, 0, 0, 0, 0,    4,    0x7F, 0xFF, 0xFF, 0xFF,  //
    0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0,    0,                 //
    0, 0, 0, 4, 1, 0, 0, 0, 0,
};

}  // namespace

StallingServer::StallingServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  listen(listener_, 8);
  socklen_t size = sizeof(address);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  target_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  thread_ = std::thread([this] { Accept(); });
}

StallingServer::~StallingServer() {
  shutdown(listener_, SHUT_RDWR);  // Wakes accept.
  thread_.join();
  close(listener_);
  for (int connection : connections_) close(connection);
}

void StallingServer::Accept() {
  for (int connection = accept(listener_, nullptr, nullptr); connection >= 0;
       connection = accept(listener_, nullptr, nullptr)) {
    connections_.push_back(connection);
    if (send(connection, kGreeting, sizeof(kGreeting), MSG_NOSIGNAL) < 0) return;
  }
}

}  // namespace gridfold::client
