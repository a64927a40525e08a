#include "server/scheduling/job_batch.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "server/base/exception_guard.h"

namespace gridfold::server {

namespace {

absl::Status Complete(const BatchedJob& job, absl::StatusOr<kernels::ReductionResult> result,
                      const kernels::RunStatistics& statistics) {
  if (job.stop.stop_requested()) return absl::CancelledError("the job was cancelled");
  // No exception of a job may cost another job anything.
  return CatchExceptions([&] {
    return job.work->complete(std::move(result), {job.queue_time, statistics});
  });
}

}  // namespace

void RunTogether(std::span<const BatchedJob> jobs, kernels::Lane& lane) {
  kernels::RunStatistics statistics;
  std::vector<absl::StatusOr<kernels::ReductionResult>> results;
  const absl::Status failure = CatchExceptions([&] {
    std::vector<kernels::BatchedReduction> reductions;
    reductions.reserve(jobs.size());
    for (const BatchedJob& job : jobs) reductions.push_back(job.work->reduction);
    auto dealt = kernels::RunReductionBatch(reductions, lane, std::stop_token(), statistics);
    if (dealt.ok()) results = *std::move(dealt);
    return dealt.status();
  });
  for (size_t i = 0; i < jobs.size(); ++i) {
    *jobs[i].outcome = failure.ok() ? Complete(jobs[i], std::move(results[i]), statistics)
                                    : Complete(jobs[i], failure, statistics);
  }
}

}  // namespace gridfold::server
