// Waits for SIGTERM and SIGINT in a thread of its own, so that no work is done in signal handlers.
#ifndef GRIDFOLD_SERVER_SIGNAL_WATCHER_H_
#define GRIDFOLD_SERVER_SIGNAL_WATCHER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gridfold::server {

class SignalWatcher {
 public:
  // Blocks the signals in the calling thread and those it starts later: to be called before any
  // thread is started.
  static void BlockSignals();

  // `on_second` is called, in the watcher's thread, for the second signal and each one after it.
  explicit SignalWatcher(std::function<void()> on_second);
  ~SignalWatcher();

  // Waits for the first signal and returns its number.
  int WaitForFirst();

 private:
  void Watch();

  const std::function<void()> on_second_;
  const int signal_fd_;
  const int stop_fd_;
  std::mutex mutex_;
  std::condition_variable first_came_;
  int first_signal_ = 0;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SIGNAL_WATCHER_H_
