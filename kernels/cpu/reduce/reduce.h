// Reductions on the CPU.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_REDUCE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_REDUCE_H_

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/reduction.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// The input has been checked against the plan and the lane. The strategies are
// "reduce/groups/side-by-side" and "reduce/columns/side-by-side" (brief.h),
// "reduce/groups/contiguous" and "reduce/columns/strips". Errors also those of StrategyError.
absl::StatusOr<ReductionResult> ReduceOnCpu(const ReductionPlan& plan, HostSpan input,
                                            JobContext& job);

// Whether the plan's groups, rows or the columns of a stack, are reduced sooner than they are
// brought into another order: strips of few columns are slow.
bool ReducesInPlaceOnCpu(const ReductionPlan& plan);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_REDUCE_H_
