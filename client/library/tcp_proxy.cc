#include "client/library/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

sockaddr_in LoopbackAddress(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

int ConnectTo(const std::string& target) {
  const int port = std::atoi(target.substr(target.rfind(':') + 1).c_str());
  const sockaddr_in address = LoopbackAddress(port);
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return file;
  close(file);
  return -1;
}

bool WriteAll(int file, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = send(file, data, size, MSG_NOSIGNAL);
    if (written <= 0) return false;
    data += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

}  // namespace

TcpProxy::TcpProxy(const std::string& server) : server_(server) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = LoopbackAddress(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  target_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  acceptor_ = std::thread([this] { Accept(); });
}

TcpProxy::~TcpProxy() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  std::vector<std::thread> carriers;
  {
    const absl::MutexLock lock(&mutex_);
    for (const int file : sockets_) shutdown(file, SHUT_RDWR);
    carriers = std::move(carriers_);
  }
  for (std::thread& carrier : carriers) carrier.join();
  const absl::MutexLock lock(&mutex_);
  for (const int file : sockets_) close(file);
}

int TcpProxy::ConnectionsWith(uint64_t bytes) const {
  const absl::MutexLock lock(&mutex_);
  int count = 0;
  for (const auto& carried : carried_) count += *carried >= bytes;
  return count;
}

void TcpProxy::Accept() {
  while (true) {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    const int server = ConnectTo(server_);
    const absl::MutexLock lock(&mutex_);
    sockets_.push_back(client);
    if (server < 0) {
      shutdown(client, SHUT_RDWR);
      continue;
    }
    sockets_.push_back(server);
    carried_.push_back(std::make_unique<std::atomic<uint64_t>>(0));
    std::atomic<uint64_t>* const carried = carried_.back().get();
    carriers_.emplace_back([=, this] { Carry(client, server, carried); });
    carriers_.emplace_back([=, this] { Carry(server, client, nullptr); });
  }
}

void TcpProxy::Carry(int from, int to, std::atomic<uint64_t>* carried) {
  std::vector<char> buffer(kBufferBytes);
  while (true) {
    const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
    if (count <= 0 || !WriteAll(to, buffer.data(), static_cast<size_t>(count))) break;
    if (carried == nullptr) continue;
    const uint64_t sum = *carried += static_cast<uint64_t>(count);
    const uint64_t limit = kill_after_bytes_;
    if (limit > 0 && sum >= limit && !has_killed_.exchange(true)) break;
    if (const uint64_t rate = bytes_per_second_; rate > 0) {
      std::this_thread::sleep_for(
          std::chrono::duration<double>(static_cast<double>(count) / static_cast<double>(rate)));
    }
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace gridfold::client
