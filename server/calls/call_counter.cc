#include "server/calls/call_counter.h"

namespace gridfold::server {

void CallCounter::Enter() {
  const std::lock_guard lock(mutex_);
  ++count_;
}

void CallCounter::Leave() {
  const std::lock_guard lock(mutex_);
  if (--count_ == 0) changed_.notify_all();
}

bool CallCounter::WaitUntilNone(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return count_ == 0 || gave_up_; });
  return count_ == 0;
}

void CallCounter::Linger(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return gave_up_; });
}

void CallCounter::GiveUpWaiting() {
  const std::lock_guard lock(mutex_);
  gave_up_ = true;
  changed_.notify_all();
}

bool CallCounter::GaveUp() {
  const std::lock_guard lock(mutex_);
  return gave_up_;
}

}  // namespace gridfold::server
