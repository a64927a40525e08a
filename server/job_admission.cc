#include "server/job_admission.h"

#include <algorithm>

namespace gridfold::server {

namespace {

using std::chrono::nanoseconds;

// The tenant's own jobs before this one, at its share of the lanes; never more than all that waits
// for the same engines. What the lanes run now is not counted, nor what may still come.
nanoseconds EstimateWait(const FairQueue::Standing& standing, uint32_t lane_count) {
  const double slowness =
      static_cast<double>(standing.weights) / static_cast<double>(standing.weight);
  const double cost = std::min(static_cast<double>(standing.cost_ahead.count()) * slowness,
                               static_cast<double>(standing.cost_of_all.count()));
  return nanoseconds(static_cast<int64_t>(cost / lane_count));
}

// Whether the tenant may have `more` jobs or bytes in a queue of `max`, of which all tenants have
// `taken` and this one `own`. In whole numbers: a fraction that is rounded down costs a place.
bool MayHave(uint64_t max, uint64_t taken, uint64_t own, uint64_t more,
             const FairQueue::Standing& standing) {
  const uint64_t reserve = max / kQueueReservePart;
  // The reserve is shared by those who wait and one more, so that something is left for who comes.
  const uint64_t share = reserve * standing.weight / (standing.weights + kTenantWeightDefault);
  return taken + more <= max - reserve || own + more <= share;
}

std::optional<JobRefusal> FindNoRoom(const JobWork& work, uint32_t lane_count, const Backlog& all,
                                     const FairQueue::Standing& standing, const Limits& limits) {
  const double lanes = lane_count;
  const bool has_place = all.jobs < limits.queued_jobs_max;
  const bool has_room = work.payload_bytes <= limits.queued_bytes_max - all.bytes;
  if (!has_place || !has_room) {
    return JobRefusal{
        .cause = has_place ? JobRefusal::Cause::kQueueBytes : JobRefusal::Cause::kQueueJobs,
        .backlog = all,
        .retry_delay = RetryDelay(all, lanes)};
  }
  if (standing.own.jobs == 0) return std::nullopt;
  if (MayHave(limits.queued_jobs_max, all.jobs, standing.own.jobs, 1, standing) &&
      MayHave(limits.queued_bytes_max, all.bytes, standing.own.bytes, work.payload_bytes,
              standing)) {
    return std::nullopt;
  }
  const double part = static_cast<double>(standing.weight) / static_cast<double>(standing.weights);
  return JobRefusal{.cause = JobRefusal::Cause::kTenantShare,
                    .backlog = standing.own,
                    .retry_delay = RetryDelay(standing.own, lanes * part)};
}

}  // namespace

std::optional<JobRefusal> FindRefusal(const JobWork& work, const AdmissionFacts& facts,
                                      const FairQueue& queue, const Limits& limits) {
  if (facts.is_draining) return JobRefusal{JobRefusal::Cause::kDraining};
  if (facts.lane_count == 0) return JobRefusal{JobRefusal::Cause::kEngineLost};
  if (work.deadline <= facts.now) return JobRefusal{JobRefusal::Cause::kDeadlinePassed};
  if (facts.lane_is_idle && work.deadline == JobClock::time_point::max()) return std::nullopt;
  const FairQueue::Standing standing = queue.StandingOf(work);
  const nanoseconds wait =
      facts.lane_is_idle ? nanoseconds(0) : EstimateWait(standing, facts.lane_count);
  const nanoseconds time_needed = (wait + facts.cost) / kDeadlineOptimism;
  if (work.deadline - facts.now < time_needed) {
    return JobRefusal{.cause = JobRefusal::Cause::kDeadlineUnmeetable, .time_needed = time_needed};
  }
  if (facts.lane_is_idle) return std::nullopt;
  return FindNoRoom(work, facts.lane_count, queue.backlog(), standing, limits);
}

}  // namespace gridfold::server
