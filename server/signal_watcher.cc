#include "server/signal_watcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace gridfold::server {

namespace {

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

int OpenSignalFd() {
  const sigset_t signals = WatchedSignals();
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

void SignalWatcher::BlockSignals() {
  const sigset_t signals = WatchedSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

SignalWatcher::SignalWatcher(std::function<void()> on_second)
    : on_second_(std::move(on_second)),
      signal_fd_(OpenSignalFd()),
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Watch(); }) {}

SignalWatcher::~SignalWatcher() {
  const uint64_t one = 1;
  (void)!write(stop_fd_, &one, sizeof(one));
  thread_.join();
  close(stop_fd_);
  close(signal_fd_);
}

int SignalWatcher::WaitForFirst() {
  std::unique_lock lock(mutex_);
  first_came_.wait(lock, [this] { return first_signal_ != 0; });
  return first_signal_;
}

void SignalWatcher::Watch() {
  while (true) {
    pollfd fds[] = {{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info;
    if (read(signal_fd_, &info, sizeof(info)) != sizeof(info)) continue;
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      is_first = first_signal_ == 0;
      if (is_first) first_signal_ = static_cast<int>(info.ssi_signo);
    }
    if (is_first) {
      first_came_.notify_all();
    } else {
      on_second_();
    }
  }
}

}  // namespace gridfold::server
