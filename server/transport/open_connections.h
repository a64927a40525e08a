// What the system knows of the connections of this process. Linux 4.19 or later only; there are
// none before. Thread-safe.
#ifndef GRIDFOLD_SERVER_TRANSPORT_OPEN_CONNECTIONS_H_
#define GRIDFOLD_SERVER_TRANSPORT_OPEN_CONNECTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace gridfold::server {

struct OpenConnection {
  int descriptor;
  uint64_t cookie;  // Tells it from another that has the descriptor later.
  // Since it was opened, as TCP's payload.
  uint64_t sent_bytes;
  uint64_t received_bytes;
};

// Of a socket by TCP, on this side; 0 where the system does not tell.
int PortOf(int socket);

// Those by TCP that came to `port` and have not ended on either side.
std::vector<OpenConnection> OpenConnections(int port);

struct ConnectionActivity {
  bool has_ended = false;             // On either side.
  uint64_t received_bytes = 0;        // Since it was opened.
  std::chrono::milliseconds idle{0};  // Since bytes last came or went.
};
// None of a descriptor that is no connection's by TCP.
std::optional<ConnectionActivity> ActivityOf(int descriptor);

// Tells a socket from another that has its descriptor later; 0 where the descriptor is no socket's.
uint64_t CookieOf(int descriptor);

// Ends a connection whose descriptor stays its owner's, who finds it ended. Unlike after shutdown,
// bytes that have arrived are not read any more.
void AbortConnection(int descriptor);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_OPEN_CONNECTIONS_H_
