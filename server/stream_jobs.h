// The jobs of one streaming call: one at a time, and all cancelled with the call. Thread-safe.
#ifndef GRIDFOLD_SERVER_STREAM_JOBS_H_
#define GRIDFOLD_SERVER_STREAM_JOBS_H_

#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "server/error_reason.h"
#include "server/job.h"
#include "server/scheduler.h"

namespace gridfold::server {

class StreamJobs {
 public:
  explicit StreamJobs(Scheduler& scheduler) : scheduler_(scheduler) {}

  // Requires that the previous job, if any, is finished. Errors: those of Scheduler::Submit, after
  // which the job's `finish` is not called; CANCELLED after Cancel.
  absl::Status Submit(JobWork work) {
    auto job = std::make_shared<Job>(std::move(work));
    {
      const std::lock_guard lock(mutex_);
      if (cancelled_) return CancelledByCaller();
      current_ = job;
    }
    // A Cancel that comes in between lets this one job run, which is short.
    return scheduler_.Submit(std::move(job));
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
  Scheduler& scheduler_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<Job> current_;
  bool cancelled_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAM_JOBS_H_
