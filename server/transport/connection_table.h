// Which connections are open, and which of them gives way when there is no room for another.
//
// As long as there is room, an address may have all of it. Where there is none, an address that has
// less than its share takes the place of the one that has most, and everybody else that of a
// connection on which nothing has moved for long. So idle connections, however many and whose ever,
// shut nobody out, and one address shuts out no other. Places are not kept free for that, as those
// of the queue are (base/shared_room.h): a connection can be closed at any time, and its client
// opens another one when it needs it.
#ifndef GRIDFOLD_SERVER_TRANSPORT_CONNECTION_TABLE_H_
#define GRIDFOLD_SERVER_TRANSPORT_CONNECTION_TABLE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gridfold::server {

// What is known of an open connection when room is looked for.
struct ConnectionState {
  int descriptor = -1;
  std::string address;                // The caller's, without its port.
  std::chrono::milliseconds idle{0};  // Since bytes last came or went.
  bool is_silent = false;             // No call has come by it yet.
};

// The connection that gives way to another one from `address`, of those that are open; none where
// the new one is refused. Pure.
std::optional<int> FindConnectionToClose(const std::vector<ConnectionState>& open,
                                         const std::string& address);

// The address of the other end, by which connections are shared: an IPv4 address, the first 64 bits
// of an IPv6 address, which are one subscriber's, or "local" for what comes by no network.
std::string AddressOfPeer(int descriptor);

// Not thread-safe.
class ConnectionTable {
 public:
  explicit ConnectionTable(uint32_t count_max) : count_max_(count_max) {}

  // Notes a connection that has come, whose descriptor its later owner will close. False where it
  // is to be refused. May close another one.
  bool Admit(int descriptor);

 private:
  struct Entry {
    uint64_t cookie = 0;
    std::string address;
  };

  void RemoveClosed();
  bool MakeRoom(const std::string& address);
  void SayThatOneGaveWay();

  const uint32_t count_max_;
  // By descriptor; those that were closed since the last look too.
  std::unordered_map<int, Entry> entries_;
  // Connections that gave way since that was last logged.
  uint64_t unsaid_count_ = 0;
  std::optional<std::chrono::steady_clock::time_point> last_said_at_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_CONNECTION_TABLE_H_
