#include "server/scheduling/job_admission.h"

#include <algorithm>

#include "server/base/shared_room.h"

namespace gridfold::server {

namespace {

using std::chrono::nanoseconds;

// The tenant's own jobs before this one, at its share of the lanes; never more than all that waits
// for the same engines. What the lanes run now is not counted, nor what may still come.
double EstimateWait(const FairQueue::Standing& standing, const AdmissionFacts& facts) {
  const double slowness =
      static_cast<double>(standing.weights) / static_cast<double>(standing.weight);
  const double cost = std::min(static_cast<double>(standing.cost_ahead.count()) * slowness,
                               static_cast<double>(standing.cost_of_all.count()));
  return cost * facts.pace / facts.lane_count;
}

std::optional<JobRefusal> FindNoRoom(const JobWork& work, const AdmissionFacts& facts,
                                     const Backlog& all, const FairQueue::Standing& standing,
                                     const Limits& limits) {
  const double lanes = facts.lane_count;
  // All parts of a request find room in a queue that has none for anything else.
  const uint64_t places = std::min(facts.job_count, limits.queued_jobs_max);
  const auto find = [&](uint64_t max, uint64_t taken, uint64_t more, uint64_t held) {
    return FindRoomRefusal(max, taken, more,
                           {.held = held, .weight = standing.weight, .weights = standing.weights});
  };
  const auto jobs = find(limits.queued_jobs_max, all.jobs, places, standing.own.jobs);
  const auto bytes =
      find(limits.queued_bytes_max, all.bytes, work.payload_bytes, standing.own.bytes);
  if (!jobs && !bytes) return std::nullopt;
  if (jobs == RoomRefusal::kFull || bytes == RoomRefusal::kFull) {
    return JobRefusal{.cause = jobs == RoomRefusal::kFull ? JobRefusal::Cause::kQueueJobs
                                                          : JobRefusal::Cause::kQueueBytes,
                      .backlog = all,
                      .retry_delay = RetryDelay(all, lanes)};
  }
  const double part = static_cast<double>(standing.weight) / static_cast<double>(standing.weights);
  return JobRefusal{.cause = JobRefusal::Cause::kTenantShare,
                    .backlog = standing.own,
                    .retry_delay = RetryDelay(standing.own, lanes * part)};
}

}  // namespace

std::optional<JobRefusal> FindRefusal(const JobWork& work, const AdmissionFacts& facts,
                                      const FairQueue& queue, const Limits& limits) {
  if (facts.is_draining && !work.continues) return JobRefusal{JobRefusal::Cause::kDraining};
  if (facts.lane_count == 0) return JobRefusal{JobRefusal::Cause::kEngineLost};
  if (work.deadline <= facts.now) return JobRefusal{JobRefusal::Cause::kDeadlinePassed};
  if (work.continues) return std::nullopt;
  if (facts.lane_is_idle && work.deadline == JobClock::time_point::max()) return std::nullopt;
  const FairQueue::Standing standing = queue.StandingOf(work);
  const double wait = facts.lane_is_idle ? 0 : EstimateWait(standing, facts) / facts.wait_part;
  const nanoseconds time_needed =
      nanoseconds(static_cast<int64_t>(wait)) + facts.cost / kDeadlineOptimism;
  if (work.deadline - facts.now < time_needed) {
    return JobRefusal{.cause = JobRefusal::Cause::kDeadlineUnmeetable, .time_needed = time_needed};
  }
  if (facts.lane_is_idle) return std::nullopt;
  return FindNoRoom(work, facts, queue.backlog(), standing, limits);
}

}  // namespace gridfold::server
