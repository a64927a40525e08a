// Launchers of the families of kernels. For order.cc only.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_LAUNCHERS_H_
#define GRIDFOLD_KERNELS_CUDA_ORDER_LAUNCHERS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/order/arguments.h"

namespace gridfold::kernels::cuda {

// Elements of a group that a warp takes.
inline constexpr uint64_t kWarpGroupMax = 1024;
// Elements selected of it.
inline constexpr uint64_t kWarpSelectedMax = 128;

// Enqueue a team for each group of up to `groups.size_max` elements; the largest one that there is
// has `largest`.
absl::Status LaunchGroupQuantiles(ElementType type, QuantileArguments arguments, uint64_t largest,
                                  const DeviceProperties& properties, cudaStream_t stream);
absl::Status LaunchGroupTop(ElementType type, TopArguments arguments, uint64_t largest,
                            const DeviceProperties& properties, cudaStream_t stream);

// Looks for keys of large groups, one after the other, in the same memory.
class LargeGroups {
 public:
  // At most `wanted_max` keys of a group. Keys are kept in `spare`, or in scratch where that is too
  // small to be worth while. Errors: LargerThanALane.
  static absl::StatusOr<LargeGroups> Create(ElementType type, uint32_t wanted_max,
                                            std::span<std::byte> spare, Scratch& scratch,
                                            const DeviceProperties& properties,
                                            cudaStream_t stream);

  static uint64_t ScratchBytesMax();

  // Enqueue all of a group.
  absl::Status LaunchQuantiles(const void* elements, const TargetsArguments& targets);
  absl::Status LaunchTop(const CollectArguments& arguments, bool is_sorted);

 private:
  absl::Status CountFirst(const void* elements, uint64_t count, KeyKind kind);
  // From the first digits to the keys.
  absl::Status FindKeys();
  uint32_t Blocks(uint64_t blocks_per_multiprocessor) const;
  absl::Status Clear(uint32_t tables);

  ElementType type_ = ElementType::kInt8;
  DeviceProperties properties_;
  cudaStream_t stream_ = nullptr;
  uint32_t node_room_ = 1;
  DigitArguments digits_;
  uint64_t* equal_counts_ = nullptr;  // One for each block, then the cursor.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_LAUNCHERS_H_
