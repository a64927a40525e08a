// Keeps callers from taking more memory than the process may have, where no other bound does.
//
// Headers of a call that never end are such a case: gRPC (1.51) bounds each of their frames but not
// their sum, and hardly counts them in its memory quota. They leave a trace: HTTP/2 (RFC 9113, 4.3
// and 5.2) allows no other frame between the frames of headers and has no flow control for them, so
// that the server sends nothing on the connection meanwhile; to one that sends data it grants more
// now and then.
//
// While the process has more memory than it may, and each time that it has grown further, the
// connections are closed that have received most since the server last sent anything on them.
//
// Linux only. Thread-safe.
#ifndef GRIDFOLD_SERVER_MEMORY_GUARD_H_
#define GRIDFOLD_SERVER_MEMORY_GUARD_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "server/sweeper.h"

namespace gridfold::server {

class MemoryGuard {
 public:
  // Of the connections that came to `port`, for as long as it exists. Mappings that processes share
  // do not count.
  MemoryGuard(uint64_t memory_bytes_max, int port);

 private:
  // Since the server last sent anything on a connection, as far as was seen.
  struct Silence {
    int descriptor = -1;
    uint64_t sent_bytes = 0;
    uint64_t received_bytes_before = 0;
    uint64_t received_bytes = 0;
  };
  using Silences = std::unordered_map<uint64_t, Silence>;  // By the socket's cookie.

  void Look();
  void NoteShortage(uint64_t bytes);
  void ObserveConnections();
  std::vector<Silence> MostSuspect() const;
  void Close(const std::vector<Silence>& suspects);

  const uint64_t memory_bytes_max_;
  const uint64_t growth_bytes_;  // What calls for something to be done.
  const int port_;
  // The following are of the sweeper's thread.
  bool is_short_ = false;
  uint64_t lowest_bytes_ = 0;  // Since the shortage began, or since connections were closed.
  Silences silences_;          // Of this shortage.
  Sweeper sweeper_;            // Last: it ends before what it uses.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_MEMORY_GUARD_H_
