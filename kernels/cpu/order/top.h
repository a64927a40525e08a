// The largest or smallest elements on the CPU.
#ifndef GRIDFOLD_KERNELS_CPU_ORDER_TOP_H_
#define GRIDFOLD_KERNELS_CPU_ORDER_TOP_H_

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/top.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// One pass, in which each thread keeps the best elements of what it has seen; those of parts of a
// group are put together.
//
// Memory beside the input: for each thread 32 bytes for every element that is selected of a group,
// and no more than some 4 bytes for each element of the group, where it is in parts.
absl::StatusOr<TopResult> TopOnCpu(const TopPlan& plan, HostSpan input, JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_ORDER_TOP_H_
