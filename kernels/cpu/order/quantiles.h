// Exact quantiles on the CPU.
#ifndef GRIDFOLD_KERNELS_CPU_ORDER_QUANTILES_H_
#define GRIDFOLD_KERNELS_CPU_ORDER_QUANTILES_H_

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/quantiles.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// Small groups are copied and partially sorted, several at a time; large ones are counted by digits
// of their keys (digit_counts.h), one after the other with all threads.
//
// Memory beside the input, for each thread: a copy of a small group, of 512 KiB at most, or 16 KiB
// for each target of a large one; and 2 MiB of a large group's last candidates.
absl::StatusOr<QuantileResult> QuantilesOnCpu(const QuantilePlan& plan, HostSpan input,
                                              JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_ORDER_QUANTILES_H_
