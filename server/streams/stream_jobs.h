// The jobs of one streaming call: one at a time, and all cancelled with the call. Each counts as a
// call while it lasts, so a stopping server waits for it, and not for a stream that has none.
// Thread-safe.
#ifndef GRIDFOLD_SERVER_STREAMS_STREAM_JOBS_H_
#define GRIDFOLD_SERVER_STREAMS_STREAM_JOBS_H_

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "server/base/error_reason.h"
#include "server/calls/call_counter.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_report.h"
#include "server/scheduling/job.h"
#include "server/scheduling/scheduler.h"

namespace gridfold::server {

class StreamJobs {
 public:
  explicit StreamJobs(CallEnvironment& environment)
      : scheduler_(environment.scheduler), calls_(environment.calls) {}
  ~StreamJobs() {
    for (const std::shared_ptr<Job>& job : unsent_) scheduler_.GiveBackAnswerRoom(*job);
  }

  // Requires that the previous job, if any, is finished. Notes in `report`, which nobody else may
  // use meanwhile, how long it took until the first one was taken. Errors: those of
  // Scheduler::Submit, after which the job's `finish` is not called; CANCELLED after Cancel.
  absl::Status Submit(JobWork work, CallReport& report) {
    const bool is_first = !report.admission_time.has_value();
    // Before: the job may end, and the stream with it, while it is submitted.
    if (is_first) report.admission_time = report.Elapsed();
    absl::Status status = Submit(std::move(work));
    if (!status.ok() && is_first) report.admission_time.reset();
    return status;
  }

  // The answer to the oldest job that has one has gone: its room is given back.
  void AnswerGone() {
    std::shared_ptr<Job> job;
    {
      const std::lock_guard lock(mutex_);
      if (unsent_.empty()) return;
      job = std::move(unsent_.front());
      unsent_.pop_front();
    }
    scheduler_.GiveBackAnswerRoom(*job);
  }

  void Cancel() {
    std::shared_ptr<Job> job;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      job = current_;
    }
    if (job != nullptr) scheduler_.Cancel(job);
  }

 private:
  absl::Status Submit(JobWork work) {
    CallCounter& calls = calls_;
    // The stream, and this with it, may be gone when it has finished.
    work.finish = [&calls, finish = std::move(work.finish)](const absl::Status& status) {
      finish(status);
      calls.Leave();
    };
    const bool has_answer = work.answer_bytes > 0;
    auto job = std::make_shared<Job>(std::move(work));
    {
      const std::lock_guard lock(mutex_);
      if (cancelled_) return CancelledByCaller();
      current_ = job;
      if (has_answer) unsent_.push_back(job);
    }
    // A Cancel that comes in between lets this one job run, which is short.
    calls.Enter();
    absl::Cleanup leave = [&calls] { calls.Leave(); };
    absl::Status status = scheduler_.Submit(std::move(job));
    if (status.ok()) std::move(leave).Cancel();
    return status;
  }

  Scheduler& scheduler_;
  CallCounter& calls_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<Job> current_;
  std::deque<std::shared_ptr<Job>> unsent_;  // Those whose answers have room, the oldest first.
  bool cancelled_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_STREAM_JOBS_H_
