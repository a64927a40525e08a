// Launchers of the families of kernels. For order.cc only.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_LAUNCHERS_H_
#define GRIDFOLD_KERNELS_CUDA_ORDER_LAUNCHERS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/order/arguments.h"
#include "kernels/cuda/order/narrow.h"

namespace gridfold::kernels::cuda {

// Elements selected of a group that a warp takes.
inline constexpr uint64_t kWarpSelectedMax = 128;

// Enqueue a team for each group of up to `groups.size_max` elements; the largest one that there is
// has `largest`.
absl::Status LaunchGroupQuantiles(ElementType type, QuantileArguments arguments, uint64_t largest,
                                  const DeviceProperties& properties, cudaStream_t stream);
absl::Status LaunchGroupTop(ElementType type, TopArguments arguments, uint64_t largest,
                            const DeviceProperties& properties, cudaStream_t stream);

// Bytes in which keys are kept, where a lane has so many to spare.
uint64_t KeptBytes(uint64_t spare_bytes);

// The size, as a power of two, of the sample by which a large group is read once (narrow.h). 0: it
// is not, being too small, of short elements, or with too much between the bounds.
uint32_t QuantileSampleLog2(ElementType type, uint64_t count, uint32_t target_count,
                            uint64_t kept_bytes);
uint32_t TopSampleLog2(ElementType type, uint64_t count, uint64_t selected, uint64_t kept_bytes);

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
  absl::Status Begin(const void* elements, uint64_t count, KeyKind kind);
  absl::Status CountFirst(bool counts_nans);
  // From the first digits to the keys.
  absl::Status FindKeys();
  absl::Status Narrow(BoundsArguments bounds, const KeepArguments& keep, KeepForm form);
  KeepArguments Keep(bool has_indices) const;
  absl::Status PlaceWanted(const KeepArguments& keep);
  absl::Status CollectKept(const CollectArguments& arguments, const KeepArguments& keep);
  absl::Status CollectFromAll(const CollectArguments& arguments);

  uint32_t Blocks(uint64_t blocks_per_multiprocessor) const;
  LaunchShape AllBlocks() const;
  absl::Status Clear(uint64_t* tables, uint64_t count);
  uint32_t key_bits() const { return static_cast<uint32_t>(8 * ElementSize(type_)); }
  uint32_t table_count() const { return node_room_ * (has_tables_of_levels_ ? level_count_ : 1); }

  ElementType type_ = ElementType::kInt8;
  DeviceProperties properties_;
  cudaStream_t stream_ = nullptr;
  uint32_t node_room_ = 1;
  uint32_t level_count_ = 1;
  bool has_tables_of_levels_ = false;  // All are cleared at once then.
  DigitArguments digits_;
  uint64_t* tables_ = nullptr;
  KeyRegions* regions_ = nullptr;
  uint64_t* equal_counts_ = nullptr;  // One for each block, then the cursor.
  KeptTies* ties_ = nullptr;
  std::span<std::byte> kept_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_LAUNCHERS_H_
