// What all streams that compute may take together: their number, and the memory of what has arrived
// and waits. Thread-safe.
#ifndef GRIDFOLD_SERVER_STREAM_ADMISSION_H_
#define GRIDFOLD_SERVER_STREAM_ADMISSION_H_

#include <atomic>
#include <cstdint>

#include "server/byte_budget.h"

namespace gridfold::server {

class StreamAdmission {
 public:
  StreamAdmission(uint64_t stream_count_max, uint64_t bytes_max)
      : streams_left_(stream_count_max), bytes_max_(bytes_max) {}

  // Whether one more stream may be open; if so, it must Leave.
  bool Enter() { return streams_left_.Take(1); }
  void Leave() { streams_left_.GiveBack(1); }

  // Bytes that are there: a message has arrived before anybody knows how long it is, so it counts
  // also where there is no room for it.
  void Hold(uint64_t bytes) { held_bytes_ += bytes; }
  void Release(uint64_t bytes) { held_bytes_ -= bytes; }

  // Whether a stream may read on that holds bytes already. One that could do nothing else may
  // always read one more message, so that no stream waits for another.
  bool HasRoom() const { return held_bytes_.load() < bytes_max_; }
  // Whether there is room for so much more.
  bool HasRoomFor(uint64_t bytes) const {
    const uint64_t held = held_bytes_.load();
    return held <= bytes_max_ && bytes <= bytes_max_ - held;
  }

  uint64_t held_bytes() const { return held_bytes_.load(); }

 private:
  ByteBudget streams_left_;
  const uint64_t bytes_max_;
  std::atomic<uint64_t> held_bytes_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAM_ADMISSION_H_
