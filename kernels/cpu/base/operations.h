// The three operations of the CPU engine. Inputs have been checked against the plan and the lane.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_OPERATIONS_H_
#define GRIDFOLD_KERNELS_CPU_BASE_OPERATIONS_H_

#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/cpu/base/worker_pool.h"

namespace gridfold::kernels {

// What an operation runs with.
struct JobContext {
  WorkerPool& workers;
  std::stop_token stop;
  RunStatistics& statistics;  // The operation sets `strategy` and `bytes_read`.
};

// A histogram's arrays, all of which lie in host memory here.
struct HostHistogramInput {
  HostSpan array;
  HostSpan y_array;
  HostSpan weights;
};

absl::StatusOr<ReductionResult> ReduceOnCpu(const ReductionPlan& plan, HostSpan input,
                                            JobContext& job);

// With a carry, as Lane::ContinueScan.
absl::Status ScanOnCpu(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                       ScanCarry* carry, JobContext& job);

absl::StatusOr<HistogramResult> HistogramOnCpu(const HistogramPlan& plan,
                                               const HostHistogramInput& input, JobContext& job);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_BASE_OPERATIONS_H_
