// Receives the program's signals in a thread of its own, so that no work is done in signal
// handlers, and so that they are heard whatever else hangs.
//
//   SIGTERM, SIGINT   the first one drains the server, or ends the program while it is starting.
//   The
//                     second stops everything, and the program ends after kStopAtOnceTimeout even
//                     where something does not stop; the third ends it without waiting.
//   SIGHUP            files are read again.
//   SIGUSR1, SIGUSR2  nothing; the log says so once.
//
// Signals that would end or stop the program and mean nothing to it (SIGALRM, SIGTTOU, ...) are
// ignored, unless something that was loaded into it handles them. SIGQUIT and the signals of faults
// are left alone: they leave a core.
#ifndef GRIDFOLD_SERVER_PROCESS_SIGNAL_WATCHER_H_
#define GRIDFOLD_SERVER_PROCESS_SIGNAL_WATCHER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gridfold::server {

// Ends the program without destroying anything, after the log was written, if that is possible
// within kLogFlushTimeout.
[[noreturn]] void EndProgram(int exit_code);

class SignalWatcher {
 public:
  // What the watcher's thread has others do. Both may take long, and are called in threads of their
  // own or must not block.
  struct Actions {
    std::function<void()> stop_at_once;  // In a thread of its own.
    std::function<void()> reload;        // In the watcher's: must not block.
  };

  // Blocks the signals in the calling thread and those it starts later, and ignores those that mean
  // nothing: to be called before any thread is started.
  static void BlockSignals();

  // From here on signals are received; the first SIGTERM or SIGINT ends the program.
  SignalWatcher();
  ~SignalWatcher();

  // From here on the first SIGTERM or SIGINT is for WaitForFirst. To be called once.
  void BeginServing(Actions actions);

  // Waits for the first signal and returns its number.
  int WaitForFirst();

 private:
  void Watch();
  void OnSignal(int number);
  void OnStopSignal(int number);

  const int signal_fd_;
  const int stop_fd_;
  std::mutex mutex_;
  std::condition_variable first_came_;
  bool serving_ = false;  // Guarded by mutex_, as are the next two.
  Actions actions_;
  int first_signal_ = 0;
  // The thread's own.
  int stop_signals_ = 0;
  bool has_told_ignored_ = false;
  std::thread thread_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_SIGNAL_WATCHER_H_
