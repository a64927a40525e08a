// Counts the calls that are being answered, and the jobs of streams, so that a stopping server
// knows when the last answer has left. Thread-safe.
#ifndef GRIDFOLD_SERVER_CALLS_CALL_COUNTER_H_
#define GRIDFOLD_SERVER_CALLS_CALL_COUNTER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace gridfold::server {

class CallCounter {
 public:
  void Enter();
  void Leave();

  // Whether there were no calls before `timeout` had passed. False at once after GiveUpWaiting.
  bool WaitUntilNone(std::chrono::nanoseconds timeout);
  // Waits for `time`, or until GiveUpWaiting.
  void Linger(std::chrono::nanoseconds time);
  void GiveUpWaiting();
  bool GaveUp();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t count_ = 0;
  bool gave_up_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_CALL_COUNTER_H_
