#include "server/transport/scrape_server.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/base/exception_guard.h"
#include "server/base/fixed_limits.h"
#include "server/transport/open_connections.h"

namespace gridfold::server {

namespace {

constexpr absl::string_view kEndOfHeaders = "\r\n\r\n";

std::string AddressOf(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof(host), nullptr, 0,
              NI_NUMERICHOST);
  return host;
}

std::string HttpAnswer(absl::string_view status, absl::string_view content_type,
                       absl::string_view body, bool with_body) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", content_type,
                      "\r\nContent-Length: ", body.size(), "\r\nConnection: close\r\n\r\n",
                      with_body ? body : "");
}

std::string ErrorAnswer(absl::string_view status) {
  return HttpAnswer(status, "text/plain", absl::StrCat(status, "\n"), /*with_body=*/true);
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

absl::StatusOr<std::unique_ptr<ScrapeServer>> ScrapeServer::Start(const std::string& address,
                                                                  const std::string& path,
                                                                  const std::string& content_type,
                                                                  Render render) {
  absl::StatusOr<std::vector<Descriptor>> sockets = ListenOnHost(address);
  if (!sockets.ok()) return sockets.status();
  Descriptor stop(eventfd(0, EFD_CLOEXEC));
  if (stop.get() < 0) return absl::UnavailableError("no file descriptor is left");
  return absl::WrapUnique(new ScrapeServer(*std::move(sockets), std::move(stop), path, content_type,
                                           std::move(render)));
}

ScrapeServer::ScrapeServer(std::vector<Descriptor> sockets, Descriptor stop, std::string path,
                           std::string content_type, Render render)
    : path_(std::move(path)),
      content_type_(std::move(content_type)),
      render_(std::move(render)),
      sockets_(std::move(sockets)),
      stop_(std::move(stop)),
      port_(PortOf(sockets_[0].get())),
      thread_([this] { Run(); }) {}

ScrapeServer::~ScrapeServer() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void ScrapeServer::Run() {
  while (true) {
    std::vector<pollfd> wanted = {{stop_.get(), POLLIN, 0}};
    for (const Descriptor& socket : sockets_) wanted.push_back({socket.get(), POLLIN, 0});
    auto timeout = std::chrono::milliseconds(-1);
    for (const Connection& connection : connections_) {
      wanted.push_back({connection.socket.get(),
                        static_cast<short>(connection.answer.empty() ? POLLIN : POLLOUT), 0});
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(connection.deadline - Clock::now());
      const auto wait = std::max(left, std::chrono::milliseconds(0));
      timeout = timeout.count() < 0 ? wait : std::min(timeout, wait);
    }
    poll(wanted.data(), wanted.size(), static_cast<int>(timeout.count()));
    if (wanted[0].revents != 0) return;
    size_t place = 1 + sockets_.size();
    for (auto connection = connections_.begin(); connection != connections_.end(); ++place) {
      const bool is_ready = wanted[place].revents != 0;
      const bool goes_on =
          (!is_ready || Proceed(*connection)) && Clock::now() < connection->deadline;
      connection = goes_on ? std::next(connection) : connections_.erase(connection);
    }
    for (size_t i = 0; i < sockets_.size(); ++i) {
      if (wanted[1 + i].revents != 0) AcceptAll(sockets_[i].get());
    }
  }
}

void ScrapeServer::AcceptAll(int listening) {
  for (size_t i = 0; i < kScrapeConnectionsMax; ++i) {
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    Descriptor socket(accept4(listening, reinterpret_cast<sockaddr*>(&address), &size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) {
      // Without descriptors the next poll would say at once that there is a connection.
      if (!WouldBlock()) std::this_thread::sleep_for(kAcceptPause);
      return;
    }
    if (connections_.size() == kScrapeConnectionsMax) MakeRoom();
    connections_.push_back({.socket = std::move(socket),
                            .peer = AddressOf(address, size),
                            .deadline = Clock::now() + kScrapeRequestTimeout});
  }
}

// Whoever opens many connections takes the room from itself.
void ScrapeServer::MakeRoom() {
  std::map<std::string, size_t> counts;
  for (const Connection& connection : connections_) ++counts[connection.peer];
  const auto most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  connections_.erase(
      std::find_if(connections_.begin(), connections_.end(),
                   [&](const Connection& connection) { return connection.peer == most->first; }));
}

bool ScrapeServer::Proceed(Connection& connection) {
  return connection.is_answered ? Send(connection) : Receive(connection);
}

bool ScrapeServer::Receive(Connection& connection) {
  char bytes[4096];
  const ssize_t count = recv(connection.socket.get(), bytes, sizeof(bytes), 0);
  if (count < 0) return WouldBlock();
  if (count == 0) return false;
  connection.request.append(bytes, static_cast<size_t>(count));
  const bool is_whole = absl::StrContains(connection.request, kEndOfHeaders);
  if (!is_whole && connection.request.size() <= kScrapeRequestBytesMax) return true;
  connection.answer = is_whole && connection.request.size() <= kScrapeRequestBytesMax
                          ? AnswerTo(connection.request)
                          : ErrorAnswer("431 Request Header Fields Too Large");
  connection.is_answered = true;
  connection.deadline = Clock::now() + kScrapeAnswerTimeout;
  return Send(connection);
}

bool ScrapeServer::Send(Connection& connection) {
  while (!connection.answer.empty()) {
    const ssize_t count = send(connection.socket.get(), connection.answer.data(),
                               connection.answer.size(), MSG_NOSIGNAL);
    if (count < 0) return WouldBlock();
    connection.answer.erase(0, static_cast<size_t>(count));
  }
  // The client closes when it has everything: who closes first may lose what is on its way.
  shutdown(connection.socket.get(), SHUT_WR);
  char bytes[4096];  // Of no interest.
  const ssize_t count = recv(connection.socket.get(), bytes, sizeof(bytes), 0);
  return count > 0 || (count < 0 && WouldBlock());
}

std::string ScrapeServer::AnswerTo(const std::string& request) const {
  const absl::string_view line =
      absl::string_view(request).substr(0, request.find_first_of("\r\n"));
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1.")) {
    return ErrorAnswer("400 Bad Request");
  }
  if (words[0] != "GET" && words[0] != "HEAD") return ErrorAnswer("405 Method Not Allowed");
  if (words[1].substr(0, words[1].find('?')) != path_) return ErrorAnswer("404 Not Found");
  std::string page;
  const absl::Status status = CatchExceptions([&] {
    page = render_();
    return absl::OkStatus();
  });
  if (!status.ok()) return ErrorAnswer("500 Internal Server Error");
  return HttpAnswer("200 OK", content_type_, page, words[0] == "GET");
}

}  // namespace gridfold::server
