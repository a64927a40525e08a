// Quantiles, and the largest or smallest elements, on the device. See device/launch.h for the
// manner of launchers.
//
// Small groups have a warp each, larger ones a block, which counts the digits of their keys in
// shared memory (team_select.cuh). A large group is counted by all blocks, one pass for each digit
// (digits.cu); keys that share the first digits with a wanted one are kept as soon as they fit, and
// are all that further passes read. A very large one is read once, where bounds from a sample hold
// (narrow.h).
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_ORDER_H_
#define GRIDFOLD_KERNELS_CUDA_ORDER_ORDER_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "kernels/contract/array.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/top.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"

namespace gridfold::kernels::cuda {

// Scratch that any plan needs.
uint64_t OrderScratchBytesMax();

struct OrderInput {
  DeviceSpan array;
  const uint64_t* offsets = nullptr;  // Of segments, in device memory.
  std::span<std::byte> spare;         // Device memory that nobody uses meanwhile; may be empty.
};

// What runs the largest groups of a plan.
const char* QuantileStrategy(const QuantilePlan& plan, const OrderInput& input,
                             const DeviceProperties& properties);
const char* TopStrategy(const TopPlan& plan, const OrderInput& input,
                        const DeviceProperties& properties);

// Enqueues the computation of all slots of a QuantileResult. `targets` are the plan's, in device
// memory.
absl::Status LaunchQuantiles(const QuantilePlan& plan, const OrderInput& input,
                             const QuantileTarget* targets, uint64_t* slots, Scratch& scratch,
                             const DeviceProperties& properties, cudaStream_t stream);

// Where the selected elements go, in device memory.
struct TopOutput {
  uint64_t* slots = nullptr;
  uint64_t* indices = nullptr;
  uint64_t* lacking_group = nullptr;  // The first one with too many ignored NaNs; else 2^64 - 1.
};

// Elements that the device puts in order; more of a group are left unordered.
inline constexpr uint64_t kSortedOnDeviceMax = 1024;

absl::Status LaunchTop(const TopPlan& plan, const OrderInput& input, const TopOutput& output,
                       Scratch& scratch, const DeviceProperties& properties, cudaStream_t stream);

// Puts the elements of each group in order.
void SortTop(const TopPlan& plan, TopResult& result);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_ORDER_H_
