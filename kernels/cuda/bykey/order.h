// Orders elements by group on the device. See device/launch.h for the manner of launchers; but this
// one waits for the stream several times, since what comes next depends on the keys. Plain C++.
//
//   absl::StatusOr<DeviceOrder> order = OrderByGroup(plan, bins, input, room, ..., copy);
//   // Reduce order->values in the segments that order->offsets are.
//   absl::Status status = MapPlaces(*order, positions, stream);  // Where they were, in the input.
#ifndef GRIDFOLD_KERNELS_CUDA_BYKEY_ORDER_H_
#define GRIDFOLD_KERNELS_CUDA_BYKEY_ORDER_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cuda {

// Device memory, aligned to elements.
struct DeviceKeyedInput {
  // Of each axis of bins, or one array.
  std::array<const std::byte*, kBinAxesMax> keys = {};
  const std::byte* values = nullptr;
  std::array<const double*, kBinAxesMax> edges = {};  // Of axes whose bins have a table.
};

struct DeviceOrder {
  std::vector<uint64_t> groups;   // As KeyedReductionResult has them.
  std::vector<uint64_t> offsets;  // One more.
  const std::byte* values = nullptr;
  // Where each element of the order stands in the input; null where that is in order, or where
  // nobody asks for it.
  const uint32_t* places = nullptr;
  bool is_sorted = false;  // By us.
  uint64_t underflow_count = 0;
  uint64_t overflow_count = 0;
  uint64_t nan_count = 0;
};

// Copies consecutive bytes from device memory to host memory, behind what the stream of the launch
// does; the bytes are there when it returns.
using CopyFromDevice =
    absl::FunctionRef<absl::Status(const void* from, std::span<const MutableHostSpan> to)>;

// Elements are counted in 32 bits on the device.
inline constexpr uint64_t kKeyedElementsMax = uint64_t{0xFFFF'FFFF};

// The most that OrderByGroup takes of `room`.
uint64_t OrderRoomBytes(const KeyedReductionPlan& plan, const DeviceProperties& properties);

// `bins` are the plan's, with their ranges resolved. Values that are in order stay where they are.
// Errors: a key outside of a range, more groups than plan.group_count_max; RESOURCE_EXHAUSTED where
// `room` is too small; those of `copy`; INTERNAL from CUDA.
absl::StatusOr<DeviceOrder> OrderByGroup(const KeyedReductionPlan& plan,
                                         const std::vector<PlannedBins>& bins,
                                         const DeviceKeyedInput& input, Scratch& room,
                                         const DeviceProperties& properties, cudaStream_t stream,
                                         CopyFromDevice copy);

// Makes `positions` of the order, in device memory, those of the input.
absl::Status MapPlaces(const DeviceOrder& order, uint64_t* positions, uint64_t count,
                       const DeviceProperties& properties, cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BYKEY_ORDER_H_
