#include "server/transport/connection_watch.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"
#include "server/process/process_statistics.h"
#include "server/transport/open_connections.h"
#include "server/transport/transport_calls.h"

namespace gridfold::server {

ConnectionWatch::ConnectionWatch(uint64_t memory_bytes_max, int port, SendWatch& sends,
                                 ClosedConnections& closed)
    : port_(port),
      sends_(sends),
      closed_(closed),
      guard_(memory_bytes_max, {.memory_bytes = ProcessPrivateBytes,
                                .connections = [this] { return Connections(); },
                                .close =
                                    [this](int descriptor) {
                                      AbortConnection(descriptor);
                                      ++closed_.for_memory;
                                    }}),
      sweeper_([this] { Look(); }, kMemoryCheckInterval) {}

void ConnectionWatch::Look() {
  CheckCalls();
  guard_.Look();
}

// Calls that were cancelled count until they are gone, so that one look may see more of an honest
// client's than it has; not two in a row, nor twice as many.
void ConnectionWatch::CheckCalls() {
  constexpr uint64_t kMost = kConcurrentStreamsMax;
  const auto start = std::chrono::steady_clock::now();
  if (start < next_check_) return;
  std::unordered_set<uint64_t> over_bound;
  // No connection has more than all have together, which is quickly known.
  if (OpenTransportCalls() > kMost) {
    uint64_t closed = 0;
    for (const ConnectionLoad& load : Connections()) {
      if (load.calls <= kMost) continue;
      if (load.calls > 2 * kMost || over_bound_.contains(load.cookie)) {
        AbortConnection(load.descriptor);
        ++closed;
      } else {
        over_bound.insert(load.cookie);
      }
    }
    if (closed > 0) {
      closed_.for_calls += closed;
      LogEvent(
          LogLevel::kWarning, "connections_closed",
          {{"count", closed}, {"note", "they had more calls open than a connection may have"}});
    }
    // However many connections there are, this is not to take more than a tenth of the time.
    const auto end = std::chrono::steady_clock::now();
    next_check_ = end + 9 * (end - start);
  }
  over_bound_ = std::move(over_bound);
}

std::vector<ConnectionLoad> ConnectionWatch::Connections() {
  const std::unordered_map<std::string, uint64_t> calls = OpenTransportCallsByPeer();
  const std::unordered_map<std::string, uint64_t> answers = sends_.BytesByPeer();
  const auto of = [](const auto& numbers, const std::string& peer) -> uint64_t {
    const auto found = numbers.find(peer);
    return found == numbers.end() ? 0 : found->second;
  };
  std::vector<ConnectionLoad> loads;
  for (const OpenConnection& connection : OpenConnections(port_)) {
    const std::string peer = PeerOf(connection.descriptor);
    loads.push_back({.descriptor = connection.descriptor,
                     .cookie = connection.cookie,
                     .sent_bytes = connection.sent_bytes,
                     .received_bytes = connection.received_bytes,
                     .calls = of(calls, peer),
                     .answer_bytes = of(answers, peer)});
  }
  return loads;
}

}  // namespace gridfold::server
