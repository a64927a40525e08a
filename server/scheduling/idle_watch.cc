#include "server/scheduling/idle_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/base/error_reason.h"
#include "server/base/fixed_limits.h"

namespace gridfold::server {

IdleWatch::IdleWatch(std::chrono::milliseconds timeout) : timeout_(timeout) {
  if (timeout.count() == 0) return;
  sweeper_.emplace([this] { Sweep(); },
                   std::clamp(timeout / kIdleLooks, kIdleLookMin, kSweepInterval));
}

void IdleWatch::Begin(Waiter& waiter) {
  if (timeout_.count() == 0) return;
  const std::lock_guard lock(mutex_);
  Unlink(waiter);
  waiting_.emplace_back(JobClock::now() + timeout_, &waiter);
  waiter.place_ = std::prev(waiting_.end());
  waiter.waits_ = true;
}

void IdleWatch::End(Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  Unlink(waiter);
}

void IdleWatch::Forget(Waiter& waiter) {
  std::unique_lock lock(mutex_);
  Unlink(waiter);
  if (telling_thread_ == std::this_thread::get_id()) return;
  told_.wait(lock, [&] { return telling_ != &waiter; });
}

absl::Status IdleWatch::Error() const {
  return WithReason(absl::DeadlineExceededError(
                        absl::StrCat("the stream has sent nothing for ", timeout_.count(),
                                     " milliseconds, as long as --stream-idle-timeout allows")),
                    kReasonStreamIdle);
}

void IdleWatch::Sweep() {
  std::unique_lock lock(mutex_);
  telling_thread_ = std::this_thread::get_id();
  const JobClock::time_point now = JobClock::now();
  while (!waiting_.empty() && waiting_.front().first <= now) {
    Waiter& waiter = *waiting_.front().second;
    Unlink(waiter);
    telling_ = &waiter;
    lock.unlock();
    // It may be gone when this returns.
    waiter.OnIdle();
    lock.lock();
    telling_ = nullptr;
    told_.notify_all();
  }
}

void IdleWatch::Unlink(Waiter& waiter) {
  if (!waiter.waits_) return;
  waiting_.erase(waiter.place_);
  waiter.waits_ = false;
}

}  // namespace gridfold::server
