// Keeps callers from taking more memory than the process may have, where no other bound does.
//
// While the process has more memory than it may, connections are closed that hold it: at once each
// time that memory has grown further, and after a while where it does not become less. A connection
// holds, as far as is known,
//   - calls, each kIdleCallBytes, whether a message has come or not;
//   - answers that are on their way and do not move: the server has sent nothing meanwhile;
//   - headers that never end. gRPC (1.51) bounds each of their frames but not their sum, and hardly
//     counts them in its memory quota. They leave a trace: HTTP/2 (RFC 9113, 4.3 and 5.2) allows no
//     other frame between the frames of headers and has no flow control for them, so that the
//     server sends nothing on the connection meanwhile; to one that sends data it grants more now
//     and then. So what came since the server last sent anything is taken for such headers. To end
//     the call gRPC copies what has come of it, so that memory grows once more: nobody else pays
//     for that.
// Those that hold most are closed, until they have half of what all hold together; never one that
// holds little, whatever others took.
//
// Not thread-safe.
#ifndef GRIDFOLD_SERVER_PROCESS_MEMORY_GUARD_H_
#define GRIDFOLD_SERVER_PROCESS_MEMORY_GUARD_H_

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace gridfold::server {

// What a call with such headers takes at most while it ends, as a multiple of what they were taken
// for: the array of the call's handler grows by copying.
inline constexpr uint64_t kEndingPerHeaderMemory = 2;

// What is known of a connection.
struct ConnectionLoad {
  int descriptor;
  uint64_t cookie;  // Tells it from another that has the descriptor later.
  // Since it was opened.
  uint64_t sent_bytes;
  uint64_t received_bytes;
  uint64_t calls = 0;         // That are open.
  uint64_t answer_bytes = 0;  // Of answers that have yet to be taken.
};

struct MemoryGuardSources {
  std::function<uint64_t()> memory_bytes;                    // Of the process.
  std::function<std::vector<ConnectionLoad>()> connections;  // Asked for in a shortage only.
  std::function<void(int descriptor)> close;
};

class MemoryGuard {
 public:
  MemoryGuard(uint64_t memory_bytes_max, MemoryGuardSources sources);

  // To be called once in kMemoryCheckInterval.
  void Look();

  // Whether there is a shortage: it begins beyond the most that is allowed, and ends when a
  // kMemoryGrowthPart of that is free again.
  bool is_short() const { return is_short_; }

 private:
  // A connection since the server last sent anything on it, as far as was seen.
  struct Holder {
    int descriptor = -1;
    uint64_t sent_bytes = 0;
    uint64_t received_bytes_before = 0;
    bool is_known = false;      // From the look before.
    uint64_t header_bytes = 0;  // The memory that they may take.
    uint64_t held_bytes = 0;    // In calls and answers.

    uint64_t bytes() const { return header_bytes + held_bytes; }
  };
  using Holders = std::unordered_map<uint64_t, Holder>;  // By the socket's cookie.

  void NoteShortage(uint64_t bytes);
  void ObserveConnections();
  std::vector<Holder> MostSuspect(uint64_t held_bytes_min) const;
  void Close(const std::vector<Holder>& suspects);

  const uint64_t memory_bytes_max_;
  const uint64_t growth_bytes_;  // What calls for something to be done.
  const MemoryGuardSources sources_;
  bool is_short_ = false;
  uint64_t lowest_bytes_ = 0;   // Since the shortage began, or since connections were closed.
  uint64_t ending_bytes_ = 0;   // What calls that were ended in this shortage may take yet.
  uint64_t patient_looks_ = 0;  // Likewise.
  Holders holders_;             // Of this shortage.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_MEMORY_GUARD_H_
