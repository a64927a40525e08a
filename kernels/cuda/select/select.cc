#include "kernels/cuda/select/select.h"

#include <cstring>
#include <limits>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kAnyNumber = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kWarpLanes = 32;
constexpr uint64_t kBlockWarps = kSelectThreads / kWarpLanes;

LaunchShape Blocks(uint64_t items, uint64_t items_per_block) {
  return {.grid = dim3(GridStrideBlocks(items, items_per_block, kAnyNumber)),
          .block = dim3(kSelectThreads)};
}

uint64_t BitsOf(const ElementBytes& bytes) {
  uint64_t bits = 0;
  static_assert(sizeof(bits) == sizeof(bytes));
  std::memcpy(&bits, bytes.data(), sizeof(bits));
  return bits;
}

}  // namespace

absl::Status LaunchSelection(const SelectionPlan& plan, const SelectionArrays& arrays,
                             cudaStream_t stream) {
  const uint64_t tiles = plan.tile_count();
  const SelectionGroups groups{.offsets = arrays.group_offsets,
                               .group_count = plan.grouping.group_count,
                               .group_size = plan.grouping.group_size,
                               .has_initial = plan.initial.has_value(),
                               .initial = plan.initial ? BitsOf(*plan.initial) : 0};
  absl::Status status;
  if (tiles > 0) {
    status = Launch(FindCountTilesKernel(), Blocks(tiles, 1), stream, arrays.mask,
                    plan.element_count, arrays.tile_starts);
  }
  if (status.ok()) {
    status = Launch(FindAddTilesKernel(), {.block = dim3(kScanTilesThreads)}, stream,
                    arrays.tile_starts, tiles);
  }
  if (status.ok() && tiles > 0) {
    status =
        Launch(FindWriteSelectedKernel(plan.element_bytes), Blocks(tiles, 1), stream, arrays.input,
               arrays.mask, plan.element_count, arrays.tile_starts, groups, arrays.selected);
  }
  if (!status.ok()) return status;
  return Launch(FindSelectedOffsetsKernel(plan.element_bytes),
                Blocks(groups.group_count + 1, kBlockWarps), stream, arrays.mask,
                plan.element_count, arrays.tile_starts, groups, arrays.selected_offsets,
                arrays.selected);
}

absl::Status LaunchFindSelected(const uint8_t* mask, uint64_t element_count,
                                const uint64_t* tile_starts, const uint64_t* ranks, uint64_t count,
                                uint64_t* places, cudaStream_t stream) {
  if (count == 0) return absl::OkStatus();
  return Launch(FindFindSelectedKernel(), Blocks(count, kBlockWarps), stream, mask, element_count,
                tile_starts, CeilDivide(element_count, kSelectionTile), ranks, count, places);
}

absl::Status LaunchReplacement(uint64_t element_count, uint64_t element_bytes,
                               const ElementBytes& replacement, const void* input,
                               const uint8_t* mask, void* output, cudaStream_t stream) {
  if (element_count == 0) return absl::OkStatus();
  return Launch(FindReplaceKernel(element_bytes), Blocks(element_count, kSelectThreads), stream,
                element_count, BitsOf(replacement), input, mask, output);
}

}  // namespace gridfold::kernels::cuda
