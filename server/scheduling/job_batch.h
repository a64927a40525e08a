// Jobs that share a launch: small reductions that wait at the same time.
// kernels/folds/reduction_batch.h makes one launch of them; here each of them gets its own end.
#ifndef GRIDFOLD_SERVER_SCHEDULING_JOB_BATCH_H_
#define GRIDFOLD_SERVER_SCHEDULING_JOB_BATCH_H_

#include <chrono>
#include <functional>
#include <span>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/folds/reduction_batch.h"

namespace gridfold::server {

// How a shared launch ran, for one of its jobs.
struct SharedLaunch {
  std::chrono::nanoseconds queue_time;       // Of the job.
  const kernels::RunStatistics& statistics;  // Of the whole launch.
};

// A job's work as one reduction among others.
struct BatchableWork {
  kernels::ReductionBatchKey key;  // Equal keys share a launch.
  kernels::BatchedReduction reduction;
  // In place of JobWork::run: is given the job's result, or its error, and returns what the job
  // ends with. May throw.
  std::function<absl::Status(absl::StatusOr<kernels::ReductionResult>, const SharedLaunch&)>
      complete;
};

struct BatchedJob {
  const BatchableWork* work;
  std::stop_token stop;
  std::chrono::nanoseconds queue_time;
  absl::Status* outcome;  // What it ends with goes here.
};

// Runs jobs of one key. One that is cancelled ends with CANCELLED and leaves the others alone: the
// launch, which is short, goes on. Does not throw.
void RunTogether(std::span<const BatchedJob> jobs, kernels::Lane& lane);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_JOB_BATCH_H_
