// Jobs and a clock for tests of the scheduler.
#ifndef GRIDFOLD_SERVER_TESTING_TEST_JOBS_H_
#define GRIDFOLD_SERVER_TESTING_TEST_JOBS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "server/scheduling/job.h"
#include "server/scheduling/scheduler.h"
#include "server/testing/fake_engine.h"

namespace gridfold::server {

// A clock that stands still until the test moves it.
class FakeClock {
 public:
  JobClock::time_point Now() const { return JobClock::time_point(std::chrono::nanoseconds(now_)); }
  void Advance(std::chrono::nanoseconds time) { now_ += time.count(); }

 private:
  std::atomic<int64_t> now_ = 1'000'000'000;
};

// How a job, or a request of several, was finished. Thread-safe.
class FinishRecord {
 public:
  void Add(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    ++count_;
    status_ = status;
    added_.notify_all();
  }

  int count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

  // Waits until there is a status.
  absl::Status status() {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [this] { return count_ > 0; });
    return status_;
  }

  // Whether there is a status by the end of this time.
  bool WaitFor(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return added_.wait_for(lock, time, [this] { return count_ > 0; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable added_;
  int count_ = 0;
  absl::Status status_;
};

// A job that remembers how it went. Its end waits for the scheduler to be done with it, which may
// still be telling it so: open the gates that it waits at before.
class TestJob {
 public:
  using Body = std::function<absl::Status(const JobContext&)>;

  explicit TestJob(Body body, uint64_t payload_bytes = 1,
                   JobClock::time_point deadline = JobClock::time_point::max())
      : TestJob(JobWork{.payload_bytes = payload_bytes, .deadline = deadline}, std::move(body)) {}

  TestJob(JobWork work, Body body) {
    work.run = [this, body = std::move(body)](const JobContext& context) {
      ++run_count_;
      queue_time_ = context.queue_time;
      return body(context);
    };
    work.finish = [this](const absl::Status& status) { finished_.Add(status); };
    job_ = std::make_shared<Job>(std::move(work));
  }

  TestJob(const TestJob&) = delete;
  TestJob& operator=(const TestJob&) = delete;
  ~TestJob() {
    while (job_.use_count() > 1) std::this_thread::yield();
  }

  const std::shared_ptr<Job>& job() const { return job_; }
  int run_count() const { return run_count_; }
  int finish_count() const { return finished_.count(); }
  std::chrono::nanoseconds queue_time() const { return queue_time_; }

  // Waits until the job is finished.
  absl::Status status() { return finished_.status(); }

 private:
  FinishRecord finished_;
  std::atomic<int> run_count_ = 0;
  std::chrono::nanoseconds queue_time_{0};
  std::shared_ptr<Job> job_;
};

inline TestJob::Body Succeed() {
  return [](const JobContext&) { return absl::OkStatus(); };
}

inline TestJob::Body WaitAt(Gate& gate) {
  return [&gate](const JobContext& context) { return gate.Pass(context.stop); };
}

inline Limits SmallLimits(uint32_t lanes, uint64_t jobs_max = 16, uint64_t bytes_max = 1000) {
  Limits limits;
  limits.lane_count = lanes;
  limits.queued_jobs_max = jobs_max;
  limits.queued_bytes_max = bytes_max;
  return limits;
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_TEST_JOBS_H_
