// Watches the connections of a server from outside the transport, which leaves gaps (gRPC 1.51):
//   - Its bound on the calls of a connection holds only from when the client acknowledges it, which
//     one that means ill never does. A connection with more is closed.
//   - Memory that calls hold without a message, answers that nobody takes and headers without end
//     are bounded by nothing (process/memory_guard.h).
//
// Linux only. Thread-safe.
#ifndef GRIDFOLD_SERVER_TRANSPORT_CONNECTION_WATCH_H_
#define GRIDFOLD_SERVER_TRANSPORT_CONNECTION_WATCH_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "server/base/sweeper.h"
#include "server/process/memory_guard.h"
#include "server/transport/send_watch.h"

namespace gridfold::server {

// How many connections it has closed. Thread-safe.
struct ClosedConnections {
  std::atomic<uint64_t> for_memory = 0;
  std::atomic<uint64_t> for_calls = 0;
};

class ConnectionWatch {
 public:
  // Of the connections that came to `port`, for as long as it exists. Mappings that processes share
  // do not count as memory. `sends` and `closed` must outlive it.
  ConnectionWatch(uint64_t memory_bytes_max, int port, SendWatch& sends, ClosedConnections& closed);

 private:
  void Look();
  void CheckCalls();
  std::vector<ConnectionLoad> Connections();

  const int port_;
  SendWatch& sends_;
  ClosedConnections& closed_;
  // The following are of the sweeper's thread.
  MemoryGuard guard_;
  std::chrono::steady_clock::time_point next_check_;
  std::unordered_set<uint64_t> over_bound_;  // Connections, by cookie, at the last look.
  Sweeper sweeper_;                          // Last: it ends before what it uses.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_CONNECTION_WATCH_H_
