// Whether a job is taken: by its deadline, and by the room that the queue has for its tenant.
#ifndef GRIDFOLD_SERVER_JOB_ADMISSION_H_
#define GRIDFOLD_SERVER_JOB_ADMISSION_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "server/fair_queue.h"
#include "server/job.h"
#include "server/job_refusal.h"
#include "server/limits.h"

namespace gridfold::server {

// What the scheduler knows when a job comes.
struct AdmissionFacts {
  JobClock::time_point now;
  std::chrono::nanoseconds cost{0};  // Of the job, as estimated; 0 where nothing is known.
  bool is_draining = false;
  uint32_t lane_count = 0;    // That may run the job now or later; 0 where their engines are lost.
  bool lane_is_idle = false;  // One of those: the job need not wait.
};

// Why the job is not taken; none where it is. Pure, and as thread-safe as `queue`.
//
// A job is refused whose deadline is nearer than the estimated time to its end, divided by
// kDeadlineOptimism: a wrong refusal is worse than a late end. Of the queue, all but the last
// kQueueReservePart is open to everybody. That part is shared by weight, so that a tenant with
// little in it finds room whatever the others send.
std::optional<JobRefusal> FindRefusal(const JobWork& work, const AdmissionFacts& facts,
                                      const FairQueue& queue, const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_JOB_ADMISSION_H_
