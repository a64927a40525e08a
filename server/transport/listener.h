// The sockets that the server listens on, and the bound on its connections.
//
// gRPC's own sockets (1.51) stop listening for good when accept finds no file descriptor left: any
// caller who opens enough connections, and closes them again, would have made the server deaf.
// These close excess connections and go on.
#ifndef GRIDFOLD_SERVER_TRANSPORT_LISTENER_H_
#define GRIDFOLD_SERVER_TRANSPORT_LISTENER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/descriptor.h"
#include "server/transport/connection_table.h"
#include "server/transport/unix_socket.h"

namespace gridfold::server {

// Sockets that listen on every address that the host of `listen` ("host:port") has, on the same
// port; on a host of 0.0.0.0 by IPv6 too, where the machine has it. They do not block. UNAVAILABLE
// where no address can be listened on.
absl::StatusOr<std::vector<Descriptor>> ListenOnHost(const std::string& listen);

// Not thread-safe.
class Listener {
 public:
  // Of connections from then on: the socket that they came by, and their own, which `take` owns and
  // which does not block.
  using Take = std::function<void(int listening, int connection)>;

  // Listens on every address that the host of `address` ("host:port") has, on the same port; on a
  // host of 0.0.0.0 by IPv6 too, where the machine has it; or on the Unix socket of "unix:path",
  // whose file goes with Stop. UNAVAILABLE where no address can be listened on.
  // `connection_count_max` bounds the connections that are open at the same time, by the rules of
  // connection_table.h; where the process may have fewer files, so do they.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::string& address,
                                                        uint32_t connection_count_max);
  // Stops.
  ~Listener();

  // 0 of a Unix socket.
  int port() const { return port_; }

  // Calls `take`, in a thread of the listener's. Connections wait until then. Once only.
  void Start(Take take);

  // No connection is taken after it; those that wait are refused.
  void Stop();

 private:
  Listener(std::vector<Descriptor> sockets, UnixSocketFile file, Descriptor stop,
           uint32_t connection_count_max);

  void Run(const Take& take);
  // Whether to wait before the next.
  bool AcceptAll(int socket, const Take& take);
  void SayFull();

  const int port_;
  const uint32_t connection_count_max_;
  std::optional<ConnectionTable> connections_;  // Of the thread. Set by Start.
  // Connections whose descriptors are not below this are too many. Set by Start.
  int descriptor_end_ = 0;
  std::vector<Descriptor> sockets_;
  UnixSocketFile file_;         // Of a Unix socket.
  Descriptor stop_;             // Readable when the thread is to end.
  bool has_said_full_ = false;  // Of the thread.
  std::thread thread_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_LISTENER_H_
