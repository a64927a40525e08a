// The part of the room for answers (scheduling/answer_room.h) that is for small ones, which most
// are: given back without a lock. One thread takes at a time (of the scheduler, under its mutex);
// any may give back.
#ifndef GRIDFOLD_SERVER_SCHEDULING_SMALL_ANSWERS_H_
#define GRIDFOLD_SERVER_SCHEDULING_SMALL_ANSWERS_H_

#include <atomic>
#include <cstdint>

#include "server/base/fixed_limits.h"

namespace gridfold::server {

class SmallAnswers {
 public:
  explicit SmallAnswers(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // False where the answer is not small, or there is not as much.
  bool Take(uint64_t bytes) {
    if (!Fits(taken_bytes_, bytes)) return false;
    taken_bytes_ += bytes;
    return true;
  }
  // Whether Take would take it now.
  bool HasRoom(uint64_t bytes) const { return Fits(taken_bytes_, bytes); }
  void GiveBack(uint64_t bytes) { taken_bytes_ -= bytes; }

  uint64_t taken_bytes() const { return taken_bytes_; }

 private:
  bool Fits(uint64_t taken, uint64_t bytes) const {
    return bytes <= kSmallAnswerBytes && bytes <= bytes_max_ - taken;
  }

  const uint64_t bytes_max_;
  std::atomic<uint64_t> taken_bytes_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_SMALL_ANSWERS_H_
