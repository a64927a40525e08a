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

namespace gridfold::kernels::cuda {

// A statistic's entry of ReductionOutput::failures where no group failed.
inline constexpr uint64_t kNoFailure = ~uint64_t{0};

// All pointers are to device memory.
struct ReductionInput {
  DeviceSpan elements;                // plan.array.element_count of them.
  const uint64_t* offsets = nullptr;  // Segments only: plan.grouping.offsets.
};
struct ReductionOutput {
  uint64_t* slots;  // [statistic][group]: plan.result_slot_count() values.
  // [statistic]: the smallest group whose value is not defined, or kNoFailure. Not written where
  // ReductionCanFail says no.
  uint64_t* failures;
  void* states = nullptr;  // [group]: ReductionStateBytes(plan) each, where they are asked for.
};

// Whether any value may not be defined: an integer sum or product that may overflow where that is
// an error, an index where NaNs are ignored.
bool ReductionCanFail(const ReductionPlan& plan);

// Size of one group's state on the device.
uint64_t ReductionStateBytes(const ReductionPlan& plan);

// The states of the plan's groups, from as many as ReductionOutput::states has.
ReductionStates StatesOf(const ReductionPlan& plan, const std::byte* states);

// How columns are reduced. Tests may force what is thought best for large matrices only.
enum class ColumnRoute : uint8_t {
  kBest,       // As rows of the transpose, where AreReducedAsRows.
  kAsColumns,  // Never.
};

// Device memory that LaunchReduction takes of a Scratch.
uint64_t ReductionScratchBytes(const ReductionPlan& plan, const DeviceProperties& properties,
                               ColumnRoute columns = ColumnRoute::kBest);

// The most that ReductionScratchBytes gives for plans of up to `input_bytes` and `group_count`.
uint64_t ReductionScratchBytesMax(uint64_t input_bytes, uint64_t group_count,
                                  const DeviceProperties& properties);

// Enqueues the reduction on `stream`, a stream of the current device, which has `properties`. A
// group fails where its sum or product overflows and that is an error, or where its argmin or
// argmax is of nothing but ignored NaNs. Results are the same in every run on a device. Errors:
// RESOURCE_EXHAUSTED where `scratch` is too small; INTERNAL from CUDA.
absl::Status LaunchReduction(const ReductionPlan& plan, const ReductionInput& input,
                             const ReductionOutput& output, Scratch& scratch,
                             const DeviceProperties& properties, cudaStream_t stream,
                             ColumnRoute columns = ColumnRoute::kBest);

// The kernel family that LaunchReduction takes: "reduce/contiguous", "reduce/block", "reduce/tile",
// "reduce/segments-tile", "reduce/segments-queue", "reduce/axis-0", "reduce/transposed" or, for
// nothing but a floating-point product, "reduce/product".
const char* ReductionStrategy(const ReductionPlan& plan, const DeviceProperties& properties);

// Bytes of the array that LaunchReduction reads. A floating-point product takes a pass of its own.
uint64_t ReductionBytesRead(const ReductionPlan& plan);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_REDUCE_H_
