#include "server/process/signal_watcher.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"

namespace gridfold::server {

namespace {

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&signals, number);
  return signals;
}

int OpenSignalFd() {
  const sigset_t signals = WatchedSignals();
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

void IgnoreUnlessHandled(int number) {
  struct sigaction action = {};
  if (sigaction(number, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
      action.sa_handler == SIG_DFL) {
    signal(number, SIG_IGN);
  }
}

}  // namespace

void EndProgram(int exit_code) {
  FlushLog(kLogFlushTimeout);
  _exit(exit_code);
}

void SignalWatcher::BlockSignals() {
  const sigset_t signals = WatchedSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // SIGPIPE: whoever reads the log may go away. SIGTTOU and SIGTTIN: so may the terminal.
  // SIGXFSZ: a log may be as large as a file may be.
  for (const int number : {SIGPIPE, SIGTTOU, SIGTTIN, SIGXFSZ, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,
                           SIGPWR, SIGSTKFLT}) {
    IgnoreUnlessHandled(number);
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) IgnoreUnlessHandled(number);
}

SignalWatcher::SignalWatcher()
    : signal_fd_(OpenSignalFd()), stop_fd_(eventfd(0, EFD_CLOEXEC)), thread_([this] { Watch(); }) {}

SignalWatcher::~SignalWatcher() {
  eventfd_write(stop_fd_, 1);
  thread_.join();
  close(stop_fd_);
  close(signal_fd_);
}

void SignalWatcher::BeginServing(Actions actions) {
  const std::lock_guard lock(mutex_);
  serving_ = true;
  actions_ = std::move(actions);
}

int SignalWatcher::WaitForFirst() {
  std::unique_lock lock(mutex_);
  first_came_.wait(lock, [this] { return first_signal_ != 0; });
  return first_signal_;
}

void SignalWatcher::Watch() {
  while (true) {
    pollfd fds[] = {{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    const int timeout = stop_signals_ > 1 ? static_cast<int>(kStopAtOnceTimeout.count()) : -1;
    const int ready = poll(fds, 2, timeout);
    if (ready == 0) {
      LogEvent(LogLevel::kError, "ended_at_once", {{"note", "something did not stop in time"}});
      EndProgram(EXIT_FAILURE);
    }
    if (ready < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info;
    if (read(signal_fd_, &info, sizeof(info)) == sizeof(info)) {
      OnSignal(static_cast<int>(info.ssi_signo));
    }
  }
}

void SignalWatcher::OnSignal(int number) {
  if (number == SIGTERM || number == SIGINT) {
    OnStopSignal(number);
  } else if (number == SIGHUP) {
    const std::lock_guard lock(mutex_);
    LogEvent(LogLevel::kInfo, "reloading", {});
    if (serving_) actions_.reload();
  } else if (!std::exchange(has_told_ignored_, true)) {
    LogEvent(LogLevel::kInfo, "signal_ignored", {{"signal", sigabbrev_np(number)}});
  }
}

void SignalWatcher::OnStopSignal(int number) {
  const std::lock_guard lock(mutex_);
  ++stop_signals_;
  if (!serving_) {
    LogEvent(LogLevel::kInfo, "stopped_while_starting", {{"signal", sigabbrev_np(number)}});
    EndProgram(EXIT_SUCCESS);
  }
  if (stop_signals_ == 1) {
    first_signal_ = number;
    first_came_.notify_all();
  } else if (stop_signals_ == 2) {
    LogEvent(LogLevel::kWarning, "stopping_at_once", {});
    std::thread(actions_.stop_at_once).detach();
  } else {
    _exit(EXIT_FAILURE);
  }
}

}  // namespace gridfold::server
