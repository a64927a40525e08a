// Reductions by key on the CPU: a stable sort of the elements by their groups, and a reduction of
// the segments that the groups then are. Keys that are in order already are not sorted, and their
// values are read where they lie. Takes, beside the answer, 4 or 8 bytes for each key, and where it
// sorts as much once more, two indices of 4 or 8 bytes and the value.
#ifndef GRIDFOLD_KERNELS_CPU_BYKEY_KEYED_REDUCTION_H_
#define GRIDFOLD_KERNELS_CPU_BYKEY_KEYED_REDUCTION_H_

#include <span>

#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// The input has been checked against the plan and the lane. `keys` are those of each axis.
absl::StatusOr<KeyedReductionResult> ReduceByKeyOnCpu(const KeyedReductionPlan& plan,
                                                      std::span<const HostSpan> keys,
                                                      HostSpan values, const LaneOptions& options,
                                                      JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BYKEY_KEYED_REDUCTION_H_
