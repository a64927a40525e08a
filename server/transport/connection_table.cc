#include "server/transport/connection_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <utility>

#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"
#include "server/transport/open_connections.h"

namespace gridfold::server {

namespace {

using std::chrono::milliseconds;

// What its own callers do not notice: nothing has moved for long, or nothing ever has.
bool IsIdle(const ConnectionState& connection) {
  return connection.idle >= (connection.is_silent ? kConnectionSilenceMin : kConnectionIdleMin);
}

bool IsIdleShorter(const ConnectionState* a, const ConnectionState* b) { return a->idle < b->idle; }

}  // namespace

std::optional<int> FindConnectionToClose(const std::vector<ConnectionState>& open,
                                         const std::string& address) {
  std::map<std::string, uint64_t> counts = {{address, 0}};
  for (const ConnectionState& connection : open) ++counts[connection.address];
  const std::string& greediest =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
  // A share of all for each address, and one more who may come. Then the greediest is another, and
  // has more than it would leave: not all can have as little.
  const bool has_less = (counts[address] + 1) * (counts.size() + 1) <= open.size();
  std::vector<const ConnectionState*> candidates;
  for (const ConnectionState& connection : open) {
    if (has_less ? connection.address == greediest : IsIdle(connection)) {
      candidates.push_back(&connection);
    }
  }
  if (candidates.empty()) return std::nullopt;
  return (*std::ranges::max_element(candidates, IsIdleShorter))->descriptor;
}

std::string AddressOfPeer(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "local";
  if (address.ss_family == AF_INET) {
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof(text));
    return text;
  }
  if (address.ss_family != AF_INET6) return "local";
  in6_addr ipv6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  char text[INET6_ADDRSTRLEN] = {};
  if (IN6_IS_ADDR_V4MAPPED(&ipv6)) {
    inet_ntop(AF_INET, &ipv6.s6_addr[12], text, sizeof(text));
    return text;
  }
  std::fill(std::begin(ipv6.s6_addr) + 8, std::end(ipv6.s6_addr), uint8_t{0});
  inet_ntop(AF_INET6, &ipv6, text, sizeof(text));
  return text;
}

bool ConnectionTable::Admit(int descriptor) {
  // Who had the descriptor before is gone.
  entries_.erase(descriptor);
  std::string address = AddressOfPeer(descriptor);
  if (entries_.size() >= count_max_) RemoveClosed();
  if (entries_.size() >= count_max_ && !MakeRoom(address)) return false;
  entries_[descriptor] = {CookieOf(descriptor), std::move(address)};
  return true;
}

void ConnectionTable::RemoveClosed() {
  std::erase_if(entries_,
                [](const auto& entry) { return CookieOf(entry.first) != entry.second.cookie; });
}

bool ConnectionTable::MakeRoom(const std::string& address) {
  std::vector<ConnectionState> open;
  open.reserve(entries_.size());
  for (const auto& [descriptor, entry] : entries_) {
    const std::optional<ConnectionActivity> activity = ActivityOf(descriptor);
    open.push_back({.descriptor = descriptor, .address = entry.address});
    if (!activity) continue;
    open.back().idle = activity->has_ended ? milliseconds::max() : activity->idle;
    open.back().is_silent = activity->received_bytes < kCallBytesMin;
  }
  const std::optional<int> closed = FindConnectionToClose(open, address);
  if (!closed) return false;
  const Entry& entry = entries_[*closed];
  // Between the look and this it may have been closed, and its descriptor be another one's.
  if (CookieOf(*closed) == entry.cookie) AbortConnection(*closed);
  entries_.erase(*closed);
  SayThatOneGaveWay();
  return true;
}

// A flood of connections is not to become one of lines.
void ConnectionTable::SayThatOneGaveWay() {
  ++unsaid_count_;
  const auto now = std::chrono::steady_clock::now();
  if (last_said_at_ && now - *last_said_at_ < kConnectionLogInterval) return;
  last_said_at_ = now;
  LogEvent(LogLevel::kWarning, "connections_gave_way",
           {{"count", std::exchange(unsaid_count_, 0)},
            {"note", "as many are open as --max-connections allows"}});
}

}  // namespace gridfold::server
