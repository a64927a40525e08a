// Why the scheduler refuses a job, in numbers: the text is made where no lock is held. And the
// errors of jobs that are not run, or not to their end.
#ifndef GRIDFOLD_SERVER_SCHEDULING_JOB_REFUSAL_H_
#define GRIDFOLD_SERVER_SCHEDULING_JOB_REFUSAL_H_

#include <chrono>

#include "absl/status/status.h"
#include "server/base/limits.h"
#include "server/scheduling/fair_queue.h"

namespace gridfold::server {

struct JobRefusal {
  enum class Cause {
    kDraining,
    kEngineLost,
    kDeadlinePassed,
    kDeadlineUnmeetable,
    kQueueJobs,
    kQueueBytes,
    kTenantShare
  };

  Cause cause;
  Backlog backlog = {};                      // Of everybody; for kTenantShare, of the tenant.
  std::chrono::milliseconds retry_delay{0};  // Where there is a point in it.
  std::chrono::nanoseconds time_needed{0};   // For kDeadlineUnmeetable.

  // The errors are those of Scheduler::Submit.
  absl::Status ToStatus(const Limits& limits) const;
};

// The time until enough of the jobs waiting in `backlog` will have gone for a retry to make sense,
// where lanes finish `speed` of their cost in a unit of time.
std::chrono::milliseconds RetryDelay(const Backlog& backlog, double speed);

absl::Status Draining();        // UNAVAILABLE
absl::Status EngineLost();      // UNAVAILABLE
absl::Status DeadlinePassed();  // DEADLINE_EXCEEDED
// DEADLINE_EXCEEDED, kReasonDeadlineUnmeetable: `time_needed` from now on is more than there is.
absl::Status DeadlineUnmeetable(std::chrono::nanoseconds time_needed);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_JOB_REFUSAL_H_
