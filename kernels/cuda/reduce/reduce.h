// Reductions on the device. See device/launch.h for the manner of launchers; plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_REDUCE_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_REDUCE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/array.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/reduction_states.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/route.h"

namespace gridfold::kernels::cuda {

// A statistic's entry of ReductionOutput::failures where no group failed.
inline constexpr uint64_t kNoFailure = ~uint64_t{0};

// All pointers are to device memory.
struct ReductionInput {
  DeviceSpan elements;                // plan.array.element_count of them.
  const uint64_t* offsets = nullptr;  // Segments only: plan.grouping.offsets.
};
struct ReductionOutput {
  // [statistic][group]: plan.result_slot_count() values; null where states are all that is wanted.
  uint64_t* slots;
  // [statistic]: the smallest group whose value is not defined, or kNoFailure. Not written where
  // there are no ReductionFailureWords.
  uint64_t* failures;
  void* states = nullptr;  // [group]: ReductionStateBytes each, where they are asked for.
};

// An answer's slots and failures, one behind the other, as the output of a reduction. There are as
// many failures as statistics, or none where no value may be undefined: that of an integer sum or
// product that may overflow where that is an error, or an index where NaNs are ignored.
size_t ReductionFailureWords(const ReductionPlan& plan);
uint64_t ReductionAnswerBytes(const ReductionPlan& plan);
ReductionOutput ReductionOutputAt(const ReductionPlan& plan, std::byte* answer, void* states);

// Size of one group's state on the device, of kernels that keep `parts`.
uint64_t ReductionStateBytes(const ReductionPlan& plan, uint32_t parts);

// The states of the plan's groups, from as many as ReductionOutput::states has.
ReductionStates StatesOf(const ReductionPlan& plan, uint32_t parts, const std::byte* states);

// Enqueues the reduction on `stream`, a stream of the current device, which has `properties`, by
// the plan's route there; it takes route.scratch_bytes of `scratch`. A group fails where its sum or
// product overflows and that is an error, or where its argmin or argmax is of nothing but ignored
// NaNs. Results are the same in every run on a device. Errors: RESOURCE_EXHAUSTED where `scratch`
// is too small; INTERNAL from CUDA.
absl::Status LaunchReduction(const ReductionPlan& plan, const ReductionRoute& route,
                             const ReductionInput& input, const ReductionOutput& output,
                             Scratch& scratch, const DeviceProperties& properties,
                             cudaStream_t stream);

// Enqueues the merge of states as LaunchReduction left them of a plan of rows or columns as this.
// Where the work is the last of these groups, it writes their values, and which fail, to `output`,
// whose failures ClearFailures has cleared. Needs no scratch. Errors: INTERNAL from CUDA.
absl::Status LaunchStateMerge(const ReductionPlan& plan, const StateMergeWork& work,
                              const ReductionOutput& output, const DeviceProperties& properties,
                              cudaStream_t stream);

// Enqueues that no group of the plan has failed, where the output says which have.
absl::Status ClearFailures(const ReductionPlan& plan, const ReductionOutput& output,
                           cudaStream_t stream);

// Bytes of the array that LaunchReduction reads. A floating-point product takes a pass of its own.
uint64_t ReductionBytesRead(const ReductionPlan& plan);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_REDUCE_H_
