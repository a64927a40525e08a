// What the scheduler counts: for the metrics, GetStatistics and tests. Plain values.
#ifndef GRIDFOLD_SERVER_SCHEDULING_SCHEDULER_STATISTICS_H_
#define GRIDFOLD_SERVER_SCHEDULING_SCHEDULER_STATISTICS_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "server/scheduling/job_refusal.h"

namespace gridfold::server {

// Jobs that were not taken, by what stood in the way.
struct RefusedJobs {
  uint64_t queue_jobs = 0;    // So many were waiting already.
  uint64_t queue_bytes = 0;   // With so many bytes.
  uint64_t tenant_share = 0;  // What was left of the queue is kept for other tenants.
  uint64_t draining = 0;
  uint64_t engine_lost = 0;
  uint64_t deadline = 0;             // It had passed before the job came.
  uint64_t deadline_unmeetable = 0;  // It would pass before the job's end.

  uint64_t by_queue() const { return queue_jobs + queue_bytes + tenant_share; }

  void Count(JobRefusal::Cause cause) {
    switch (cause) {
      case JobRefusal::Cause::kDraining: ++draining; break;
      case JobRefusal::Cause::kEngineLost: ++engine_lost; break;
      case JobRefusal::Cause::kDeadlinePassed: ++deadline; break;
      case JobRefusal::Cause::kDeadlineUnmeetable: ++deadline_unmeetable; break;
      case JobRefusal::Cause::kQueueJobs: ++queue_jobs; break;
      case JobRefusal::Cause::kQueueBytes: ++queue_bytes; break;
      case JobRefusal::Cause::kTenantShare: ++tenant_share; break;
    }
  }
};

// Jobs that were taken and then dropped or stopped, by why nobody waits for them any more.
struct CancelledJobs {
  uint64_t caller = 0;
  uint64_t deadline = 0;
  uint64_t shutdown = 0;

  uint64_t total() const { return caller + deadline + shutdown; }
};

struct EngineStatistics {
  uint32_t lane_count = 0;
  uint32_t lanes_busy = 0;
  bool lost = false;
};

// What the scheduler has done, and is doing. At any moment
// accepted == succeeded + failed + cancelled.total() + queued + running.
struct SchedulerStatistics {
  uint64_t accepted = 0;
  RefusedJobs refused;
  uint64_t succeeded = 0;
  uint64_t failed = 0;
  CancelledJobs cancelled;
  uint64_t bytes_processed = 0;
  uint64_t queued = 0;
  uint64_t queued_bytes = 0;
  uint64_t queued_for_answers = 0;  // Of those that are queued: they wait for room, not for a lane.
  // Answers that are being made or have yet to be taken, and those without a job that found no
  // room.
  uint64_t answer_bytes = 0;
  uint64_t answers_refused = 0;
  uint64_t running = 0;  // More than lanes_busy where jobs share a launch.
  // What jobs were charged of the lanes' time, all tenants together.
  std::chrono::nanoseconds lane_time{0};
  // Launches that several jobs shared, and those jobs.
  uint64_t batches = 0;
  uint64_t batched_jobs = 0;
  uint32_t lanes_busy = 0;
  uint32_t lane_count = 0;
  // The most that there have been at a time.
  uint64_t queued_high_water = 0;
  uint64_t queued_bytes_high_water = 0;
  uint64_t answer_bytes_high_water = 0;
  uint32_t lanes_busy_high_water = 0;
  std::vector<EngineStatistics> engines;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_SCHEDULER_STATISTICS_H_
