// States of groups that stay with the engine (Lane::ReduceInto), and their merge.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_RESIDENT_STATES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_RESIDENT_STATES_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/reduction.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// Bytes of a state: FullState of the compute type of the elements.
uint64_t StateBytesOnCpu(const ReductionPlan& plan);

// Puts the states of a result side by side; `to` has StateBytesOnCpu for each.
void KeepStatesOnCpu(const ReductionStates& states, MutableResidentSpan to);

// As Lane::MergeStates.
absl::StatusOr<ReductionResult> MergeStatesOnCpu(const ReductionPlan& plan, uint64_t first_state,
                                                 std::span<const ResidentStates> parts,
                                                 JobContext& job);

// As Lane::MergeStateGrid.
absl::StatusOr<ReductionResult> MergeStateGridOnCpu(const ReductionPlan& plan,
                                                    const StateGrid& grid,
                                                    MutableResidentSpan states, JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_RESIDENT_STATES_H_
