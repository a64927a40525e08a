// Does something once in a while, in a thread of its own, as long as it lives: deletes what has
// expired and nobody asks for.
#ifndef GRIDFOLD_SERVER_SWEEPER_H_
#define GRIDFOLD_SERVER_SWEEPER_H_

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

  // Lets the next sweep begin now. From any thread.
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

#endif  // GRIDFOLD_SERVER_SWEEPER_H_
