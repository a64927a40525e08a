#include "server/transport/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"
#include "server/transport/listen_address.h"
#include "server/transport/open_connections.h"

namespace gridfold::server {

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status CannotListen(absl::string_view address, absl::string_view reason) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", reason));
}

absl::StatusOr<AddressList> Resolve(const std::string& listen) {
  HostAndPort address = SplitListen(listen);
  if (absl::ConsumePrefix(&address.host, "[")) absl::ConsumeSuffix(&address.host, "]");
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(std::string(address.host).c_str(),
                                std::string(address.port).c_str(), &hints, &found);
  AddressList list(found, freeaddrinfo);
  if (error != 0) return CannotListen(listen, gai_strerror(error));
  return list;
}

void SetOption(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof(value));
}

// An address as the system's calls take it.
struct SocketAddress {
  sockaddr_storage bytes = {};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
  uint16_t& port() {
    return bytes.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bytes)->sin6_port
                                       : reinterpret_cast<sockaddr_in*>(&bytes)->sin_port;
  }
};

SocketAddress AddressOf(const addrinfo& info) {
  SocketAddress address{.size = info.ai_addrlen};
  std::memcpy(&address.bytes, info.ai_addr, info.ai_addrlen);
  return address;
}

bool IsAnyOfIpv4(const SocketAddress& address) {
  return address.bytes.ss_family == AF_INET &&
         reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_addr.s_addr == INADDR_ANY;
}

// [::] on the same port, which takes connections by IPv4 too.
SocketAddress AnyOfBoth(SocketAddress ipv4) {
  sockaddr_in6 any = {};
  any.sin6_family = AF_INET6;
  any.sin6_port = ipv4.port();
  SocketAddress address{.size = sizeof(any)};
  std::memcpy(&address.bytes, &any, sizeof(any));
  return address;
}

// An invalid descriptor, and errno, where it fails. Connections inherit what is set here.
Descriptor TryListen(SocketAddress address) {
  Descriptor listening(
      socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listening.get() < 0) return listening;
  SetOption(listening.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  SetOption(listening.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(listening.get(), IPPROTO_TCP, TCP_USER_TIMEOUT,
            static_cast<int>(kKeepaliveTimeout.count()));
  if (address.bytes.ss_family == AF_INET6) {
    SetOption(listening.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  if (bind(listening.get(), address.get(), address.size) != 0 ||
      listen(listening.get(), SOMAXCONN) != 0) {
    return Descriptor();
  }
  return listening;
}

Descriptor ListenOn(const SocketAddress& address) {
  if (IsAnyOfIpv4(address)) {
    Descriptor both = TryListen(AnyOfBoth(address));
    // Without IPv6 there is IPv4; a port that is taken stays so.
    if (both.get() >= 0 || errno == EADDRINUSE) return both;
  }
  return TryListen(address);
}

}  // namespace

absl::StatusOr<std::vector<Descriptor>> ListenOnHost(const std::string& listen) {
  const absl::StatusOr<AddressList> addresses = Resolve(listen);
  if (!addresses.ok()) return addresses.status();
  std::vector<Descriptor> sockets;
  int error = 0;
  for (const addrinfo* info = addresses->get(); info != nullptr; info = info->ai_next) {
    SocketAddress one = AddressOf(*info);
    if (!sockets.empty()) one.port() = htons(static_cast<uint16_t>(PortOf(sockets[0].get())));
    Descriptor listening = ListenOn(one);
    if (listening.get() >= 0) {
      sockets.push_back(std::move(listening));
    } else {
      error = errno;
    }
  }
  if (sockets.empty()) return CannotListen(listen, strerror(error));
  return sockets;
}

namespace {

// Descriptors from here on are not for connections, of those that the process may have.
int DescriptorEnd() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto count = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
  return std::max(count - kDescriptorsReserved, count / 2);
}

// Connections that are taken before the other sockets, and the end, are looked at.
constexpr int kAcceptBurst = 64;

// Of accept: it will fail again as long as something else is not closed.
bool IsShortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(const std::string& address,
                                                         uint32_t connection_count_max) {
  std::vector<Descriptor> sockets;
  UnixSocketFile file;
  if (const std::optional<std::string> path = UnixPath(address)) {
    absl::StatusOr<UnixListener> listening = ListenOnUnixSocket(*path);
    if (!listening.ok()) return listening.status();
    sockets.push_back(std::move(listening->socket));
    file = std::move(listening->file);
  } else {
    absl::StatusOr<std::vector<Descriptor>> listening = ListenOnHost(address);
    if (!listening.ok()) return listening.status();
    sockets = *std::move(listening);
  }
  Descriptor stop(eventfd(0, EFD_CLOEXEC));
  if (stop.get() < 0) return CannotListen(address, strerror(errno));
  return absl::WrapUnique(
      new Listener(std::move(sockets), std::move(file), std::move(stop), connection_count_max));
}

Listener::Listener(std::vector<Descriptor> sockets, UnixSocketFile file, Descriptor stop,
                   uint32_t connection_count_max)
    : port_(PortOf(sockets[0].get())),
      connection_count_max_(connection_count_max),
      sockets_(std::move(sockets)),
      file_(std::move(file)),
      stop_(std::move(stop)) {}

Listener::~Listener() { Stop(); }

void Listener::Start(Take take) {
  // Descriptors are given out from the lowest on: there are as many as the first that is free says.
  const Descriptor lowest_free(eventfd(0, EFD_CLOEXEC));
  const int end = DescriptorEnd();
  connections_.emplace(
      std::min(connection_count_max_, static_cast<uint32_t>(std::max(end - lowest_free.get(), 1))));
  // A connection that gives way has its descriptor for a little longer.
  descriptor_end_ = end + kDescriptorsReserved / 2;
  thread_ = std::thread([this, take = std::move(take)] { Run(take); });
}

void Listener::Stop() {
  if (thread_.joinable()) {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  file_ = UnixSocketFile();
  sockets_.clear();
}

void Listener::Run(const Take& take) {
  std::vector<pollfd> wanted = {{stop_.get(), POLLIN, 0}};
  for (const Descriptor& socket : sockets_) wanted.push_back({socket.get(), POLLIN, 0});
  bool pause = false;
  while (true) {
    // In a pause for the end only.
    poll(wanted.data(), pause ? 1 : wanted.size(),
         pause ? static_cast<int>(kAcceptPause.count()) : -1);
    if (wanted[0].revents != 0) return;
    pause = false;
    for (const Descriptor& socket : sockets_) pause |= AcceptAll(socket.get(), take);
  }
}

bool Listener::AcceptAll(int socket, const Take& take) {
  for (int i = 0; i < kAcceptBurst; ++i) {
    Descriptor connection(accept4(socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.get() < 0) {
      // Any other error is that of a connection that has gone meanwhile, or says there is none.
      const bool is_shortage = IsShortage(errno);
      if (is_shortage) SayFull();
      return is_shortage;
    }
    if (connection.get() >= descriptor_end_ || !connections_->Admit(connection.get())) {
      SayFull();
      continue;
    }
    has_said_full_ = false;
    take(socket, connection.release());
  }
  return false;
}

void Listener::SayFull() {
  if (std::exchange(has_said_full_, true)) return;
  LogEvent(LogLevel::kWarning, "connections_refused",
           {{"note", "as many are open as --max-connections, or the process's files, allow"}});
}

}  // namespace gridfold::server
