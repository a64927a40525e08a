// Histograms on the CPU.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_HISTOGRAM_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_HISTOGRAM_H_

#include "absl/status/statusor.h"
#include "kernels/contract/histogram.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/histogram/input.h"

namespace gridfold::kernels::cpu {

// The input has been checked against the plan and the lane.
absl::StatusOr<HistogramResult> HistogramOnCpu(const HistogramPlan& plan,
                                               const HostHistogramInput& input, JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_HISTOGRAM_H_
