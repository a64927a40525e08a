// What the threads of a run share: its clock, its window, and when it is over.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_RUN_CONTROL_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_RUN_CONTROL_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace gridfold::load {

// Thread-safe.
class RunControl {
 public:
  // The window, in which calls count, begins at `window_begin_ns`. `call_budget` calls are sent at
  // most.
  RunControl(int64_t window_begin_ns, uint64_t call_budget)
      : window_begin_ns_(window_begin_ns), call_budget_(static_cast<int64_t>(call_budget)) {}

  // Since the start.
  int64_t NowNs() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                start_)
        .count();
  }
  std::chrono::steady_clock::time_point start() const { return start_; }

  int64_t window_begin_ns() const { return window_begin_ns_; }
  // The greatest number until the window has ended.
  int64_t window_end_ns() const { return window_end_ns_.load(std::memory_order_relaxed); }
  bool IsInWindow(int64_t time_ns) const {
    return window_begin_ns_ <= time_ns && time_ns < window_end_ns();
  }

  // Whether one more call may be sent.
  bool TakeFromBudget() { return call_budget_.fetch_sub(1, std::memory_order_relaxed) > 0; }
  bool IsBudgetSpent() const { return call_budget_.load(std::memory_order_relaxed) <= 0; }

  // Ends the window: no more calls are sent.
  void Stop(int64_t now_ns) {
    window_end_ns_ = now_ns;
    is_stopped_ = true;
  }
  bool is_stopped() const { return is_stopped_.load(std::memory_order_acquire); }

  // After Stop: calls under way are given up.
  void Abandon() { is_abandoned_ = true; }
  bool is_abandoned() const { return is_abandoned_.load(std::memory_order_acquire); }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const int64_t window_begin_ns_;
  std::atomic<int64_t> window_end_ns_ = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> call_budget_;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> is_abandoned_ = false;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_RUN_CONTROL_H_
