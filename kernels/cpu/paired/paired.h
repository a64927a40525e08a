// Exact sums of products of columns on the CPU.
#ifndef GRIDFOLD_KERNELS_CPU_PAIRED_PAIRED_H_
#define GRIDFOLD_KERNELS_CPU_PAIRED_PAIRED_H_

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/paired.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// Threads take turns of observations, whose columns they copy to where each is contiguous, and sum
// them term by term.
//
// Memory beside the input, for each thread: 64 Ki elements, and the sums of a turn, which are below
// 1.2 MB without weights and 1.7 MB with them.
absl::StatusOr<PairedSums> SumPairedOnCpu(const PairedPlan& plan, HostSpan x, HostSpan y,
                                          HostSpan weights, JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_PAIRED_PAIRED_H_
