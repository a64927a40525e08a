#include "client/library/part_run.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/library/cancellation.h"
#include "client/library/helper_thread.h"
#include "gridfold/error_details.h"

namespace gridfold::client {
namespace {

// What is left to do. Thread-safe.
class PartQueue {
 public:
  PartQueue(size_t part_count, size_t worker_count)
      : part_count_(part_count), active_workers_(worker_count) {}

  // The next part. Nothing where none is left: the worker's work is done.
  std::optional<size_t> Take() {
    const absl::MutexLock lock(&mutex_);
    if (status_.ok()) {
      if (!returned_.empty()) {
        const size_t part = returned_.back();
        returned_.pop_back();
        return part;
      }
      if (next_ < part_count_) return next_++;
    }
    --active_workers_;
    return std::nullopt;
  }

  void End() {
    const absl::MutexLock lock(&mutex_);
    ++ended_parts_;
  }

  // So many workers have not come.
  void Miss(size_t worker_count) {
    const absl::MutexLock lock(&mutex_);
    active_workers_ -= worker_count;
  }

  enum class Answer { kTryAgain, kLeave, kFail };

  // What a worker is to do whose part was refused.
  Answer Refused(size_t part) {
    const absl::MutexLock lock(&mutex_);
    if (active_workers_ > 1) {
      returned_.push_back(part);
      --active_workers_;
      return Answer::kLeave;
    }
    return ended_parts_ > 0 ? Answer::kTryAgain : Answer::kFail;
  }

  void Fail(const absl::Status& status) {
    const absl::MutexLock lock(&mutex_);
    if (status_.ok()) status_ = status;
    --active_workers_;
  }

  // Whether the work of all is done, which is waited for.
  bool AwaitWorkers(absl::Duration timeout) {
    const absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(
        absl::Condition(
            +[](size_t* active) { return *active == 0; }, &active_workers_),
        timeout);
  }

  absl::Status status() {
    const absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  const size_t part_count_;
  absl::Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t ended_parts_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t active_workers_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> returned_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

bool IsRefusedForNow(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && RetryDelay(status).has_value();
}

void Pause(absl::Duration duration, const StopRequest& is_stopped) {
  const absl::Time end = absl::Now() + duration;
  while (absl::Now() < end && !(is_stopped && is_stopped())) {
    absl::SleepFor(std::min(end - absl::Now(), kCancellationInterval));
  }
}

absl::Status RunParts(
    size_t part_count, size_t worker_count, const StopRequest& is_cancelled,
    absl::FunctionRef<absl::Status(size_t part, size_t worker, const StopRequest& is_stopped)>
        run) {
  worker_count = std::clamp<size_t>(worker_count, 1, std::max<size_t>(part_count, 1));
  PartQueue queue(part_count, worker_count);
  std::atomic<bool> has_failed = false;
  const StopRequest is_stopped = [&] { return has_failed || (is_cancelled && is_cancelled()); };
  const auto work = [&](size_t worker) {
    while (const std::optional<size_t> part = queue.Take()) {
      PartQueue::Answer answer = PartQueue::Answer::kTryAgain;
      while (answer == PartQueue::Answer::kTryAgain) {
        const absl::Status status = run(*part, worker, is_stopped);
        if (status.ok()) {
          queue.End();
          break;
        }
        answer = IsRefusedForNow(status) ? queue.Refused(*part) : PartQueue::Answer::kFail;
        if (answer == PartQueue::Answer::kTryAgain) Pause(*RetryDelay(status), is_stopped);
        if (answer != PartQueue::Answer::kFail) continue;
        queue.Fail(status);
        has_failed = true;
      }
      if (answer != PartQueue::Answer::kTryAgain) return;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < worker_count; ++i) {
    std::optional<std::thread> thread = TryStartThread([&work, i] { work(i); });
    if (!thread) {
      queue.Miss(worker_count - i);
      break;
    }
    threads.push_back(*std::move(thread));
  }
  work(0);
  while (!queue.AwaitWorkers(kCancellationInterval)) (void)is_stopped();
  for (std::thread& thread : threads) thread.join();
  return queue.status();
}

}  // namespace gridfold::client
