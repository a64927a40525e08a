// Whether a job is taken: by its deadline, and by the room that the queue has for its tenant.
#ifndef GRIDFOLD_SERVER_SCHEDULING_JOB_ADMISSION_H_
#define GRIDFOLD_SERVER_SCHEDULING_JOB_ADMISSION_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "server/base/limits.h"
#include "server/scheduling/fair_queue.h"
#include "server/scheduling/job.h"
#include "server/scheduling/job_refusal.h"

namespace gridfold::server {

// What the scheduler knows when a job comes.
struct AdmissionFacts {
  JobClock::time_point now;
  std::chrono::nanoseconds cost{0};  // Of the job, as estimated; 0 where nothing is known.
  uint64_t job_count = 1;            // Jobs that come together, of which this is one.
  bool is_draining = false;
  uint32_t lane_count = 0;    // That may run the job now or later; 0 where their engines are lost.
  bool lane_is_idle = false;  // One of those: the job need not wait.
  double pace = 1;            // Time that lanes take for one of estimated cost.
  double wait_part = 1;       // Of the time until its deadline, what a job may wait.
};

// Why the job is not taken; none where it is. Pure, and as thread-safe as `queue`.
//
// A job is refused that would wait for longer than `wait_part` of the time until its deadline, with
// its own cost, divided by kDeadlineOptimism, beside: what waits for nothing, and is late, keeps
// lanes from what could be in time. The wait is a sum over many jobs and can be told; what one job
// takes cannot, and there a wrong refusal is worse than a late end. The places and the bytes of the
// queue are shared by tenants as server/base/shared_room.h says.
std::optional<JobRefusal> FindRefusal(const JobWork& work, const AdmissionFacts& facts,
                                      const FairQueue& queue, const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_JOB_ADMISSION_H_
