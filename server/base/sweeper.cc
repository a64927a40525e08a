#include "server/base/sweeper.h"

#include <utility>

namespace gridfold::server {

Sweeper::Sweeper(std::function<void()> sweep, std::chrono::milliseconds interval)
    : sweep_(std::move(sweep)),
      thread_([this, interval](const std::stop_token& stop) { Run(stop, interval); }) {}

void Sweeper::Wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  wakes_.notify_one();
}

void Sweeper::Run(const std::stop_token& stop, std::chrono::milliseconds interval) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      wakes_.wait_for(lock, stop, interval, [this] { return woken_; });
      woken_ = false;
    }
    sweep_();
  }
}

}  // namespace gridfold::server
