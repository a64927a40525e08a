// Calls a function at intervals, in a thread of its own, for as long as it exists: to delete what
// has expired.
#ifndef GRIDFOLD_SERVER_BASE_SWEEPER_H_
#define GRIDFOLD_SERVER_BASE_SWEEPER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace gridfold::server {

class Sweeper {
 public:
  // Calls `sweep`, which must not throw, once in an `interval`.
  Sweeper(std::function<void()> sweep, std::chrono::milliseconds interval);

  // Begins the next sweep now. Callable from any thread.
  void Wake();

 private:
  void Run(const std::stop_token& stop, std::chrono::milliseconds interval);

  const std::function<void()> sweep_;
  std::mutex mutex_;
  std::condition_variable_any wakes_;
  bool woken_ = false;   // Guarded by mutex_.
  std::jthread thread_;  // Last: it ends before what it uses.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_SWEEPER_H_
