// Bounds on all streams that compute, together: their number, and the memory of data that has
// arrived and waits. Counts what is in use, and what was refused. Thread-safe.
#ifndef GRIDFOLD_SERVER_STREAM_ADMISSION_H_
#define GRIDFOLD_SERVER_STREAM_ADMISSION_H_

#include <atomic>
#include <cstdint>

#include "server/byte_budget.h"

namespace gridfold::server {

struct StreamStatistics {
  uint64_t open = 0;
  uint64_t held_bytes = 0;
  // Streams that were refused: as many as may be were open, or the others' bytes left no room.
  uint64_t refused_by_count = 0;
  uint64_t refused_by_bytes = 0;
};

class StreamAdmission {
 public:
  StreamAdmission(uint64_t stream_count_max, uint64_t bytes_max)
      : stream_count_max_(stream_count_max),
        streams_left_(stream_count_max),
        bytes_max_(bytes_max) {}

  // Whether one more stream may be open; if so, it must Leave.
  bool Enter() {
    const bool entered = streams_left_.Take(1);
    if (!entered) ++refused_by_count_;
    return entered;
  }
  void Leave() { streams_left_.GiveBack(1); }

  // Bytes that have arrived. A message is there before anybody knows how long it is, so it counts
  // even where there is no room for it.
  void Hold(uint64_t bytes) { held_bytes_ += bytes; }
  void Release(uint64_t bytes) { held_bytes_ -= bytes; }

  // Whether a stream that already holds bytes may read on. One that could do nothing else may
  // always read one more message, so that no stream waits for another.
  bool HasRoom() const { return held_bytes_.load() < bytes_max_; }
  // Reserves so many bytes if there is room for them, and returns whether there was. If not, the
  // stream is refused.
  bool HoldWhereThereIsRoom(uint64_t bytes) {
    uint64_t held = held_bytes_.load();
    while (held <= bytes_max_ && bytes <= bytes_max_ - held) {
      if (held_bytes_.compare_exchange_weak(held, held + bytes)) return true;
    }
    ++refused_by_bytes_;
    return false;
  }

  StreamStatistics GetStatistics() const {
    return {.open = stream_count_max_ - streams_left_.left_bytes(),
            .held_bytes = held_bytes_.load(),
            .refused_by_count = refused_by_count_.load(),
            .refused_by_bytes = refused_by_bytes_.load()};
  }

 private:
  const uint64_t stream_count_max_;
  ByteBudget streams_left_;
  const uint64_t bytes_max_;
  std::atomic<uint64_t> held_bytes_ = 0;
  std::atomic<uint64_t> refused_by_count_ = 0;
  std::atomic<uint64_t> refused_by_bytes_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAM_ADMISSION_H_
