#include "kernels/cuda/reduce/product.h"

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/product_kernels.h"

namespace gridfold::kernels::cuda {

namespace {

// Grid-stride loops over short items: enough blocks to fill any multiprocessor.
constexpr uint64_t kBlocksPerMultiprocessor = 8;
constexpr uint64_t kColumnsPerBlock = 32;
constexpr uint64_t kWarpThreads = 32;

// `offsets` may be any pointer but null where only places of segments are counted.
ProductLevel TileLevel(const ReductionPlan& plan, const uint64_t* offsets) {
  const bool segments = plan.grouping.kind == GroupingKind::kSegments;
  return {.group_count = plan.grouping.group_count,
          .group_size = plan.grouping.group_size,
          .element_count = plan.array.element_count,
          .offsets = segments ? offsets : nullptr,
          .elements_per_node = kProductTile,
          .columns = plan.grouping.kind == GroupingKind::kAxis0};
}

ProductLevel Above(ProductLevel level) {
  level.elements_per_node *= kProductRadix;
  return level;
}

// Levels above the tiles, until the longest group has one node.
uint32_t JoinCount(const ReductionPlan& plan) {
  uint32_t joins = 0;
  uint64_t nodes = CeilDivide(plan.grouping.group_size, kProductTile);
  for (; nodes > 1; nodes = CeilDivide(nodes, kProductRadix)) ++joins;
  return joins;
}

absl::Status LaunchTileLevel(const ProductTileWork& work, const ProductKernels& kernels,
                             uint64_t blocks_max, cudaStream_t stream) {
  LaunchShape shape{.block = dim3(kProductBlockThreads)};
  if (work.level.columns) {
    const uint64_t items =
        CeilDivide(work.level.group_count, kColumnsPerBlock) * work.level.NodeCount(0);
    shape.grid = dim3(GridStrideBlocks(items, 1, blocks_max));
    return Launch(kernels.column_tiles, shape, stream, work);
  }
  shape.grid = dim3(
      GridStrideBlocks(work.level.PlaceCount(), kProductBlockThreads / kWarpThreads, blocks_max));
  return Launch(kernels.tiles, shape, stream, work);
}

absl::Status LaunchJoin(const ProductJoinWork& work, const ProductKernels& kernels,
                        uint64_t blocks_max, cudaStream_t stream) {
  const LaunchShape shape{
      .grid = dim3(GridStrideBlocks(work.level.PlaceCount(), kProductBlockThreads, blocks_max)),
      .block = dim3(kProductBlockThreads)};
  return Launch(kernels.join, shape, stream, work);
}

}  // namespace

uint64_t ProductScratchBytes(const ReductionPlan& plan) {
  ProductLevel level = TileLevel(plan, plan.grouping.offsets.data());
  uint64_t bytes = 0;
  for (uint32_t joins = JoinCount(plan); joins > 0; --joins, level = Above(level)) {
    bytes += ScratchBytes(level.PlaceCount() * sizeof(ScaledProduct));
  }
  return bytes;
}

uint64_t ProductScratchBytesMax(uint64_t input_bytes, uint64_t group_count) {
  const uint64_t element_count = input_bytes / sizeof(Float16);
  uint64_t bytes = 0;
  for (uint64_t size = kProductTile; size / kProductRadix < element_count; size *= kProductRadix) {
    bytes += ScratchBytes((element_count / size + group_count) * sizeof(ScaledProduct));
  }
  return bytes;
}

absl::Status LaunchProduct(const ReductionPlan& plan, const ReductionInput& input, uint64_t* slots,
                           Scratch& scratch, const DeviceProperties& properties,
                           cudaStream_t stream) {
  const ProductKernels kernels = ProductKernelsFor(plan.array.element_type);
  const uint64_t blocks_max =
      static_cast<uint64_t>(properties.multiprocessor_count) * kBlocksPerMultiprocessor;
  double* const products = reinterpret_cast<double*>(slots);
  ProductLevel level = TileLevel(plan, input.offsets);
  uint32_t joins_left = JoinCount(plan);

  const auto output_of = [&]() -> absl::StatusOr<ProductOutput> {
    if (joins_left == 0) return ProductOutput{nullptr, products};
    const absl::StatusOr<ScaledProduct*> nodes =
        scratch.Allocate<ScaledProduct>(level.PlaceCount());
    if (!nodes.ok()) return nodes.status();
    return ProductOutput{*nodes, nullptr};
  };

  absl::StatusOr<ProductOutput> output = output_of();
  if (!output.ok()) return output.status();
  const ProductTileWork tiles{.elements = input.elements.data,
                              .ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
                              .level = level,
                              .output = *output};
  absl::Status status = LaunchTileLevel(tiles, kernels, blocks_max, stream);
  while (status.ok() && joins_left > 0) {
    const ScaledProduct* const nodes = output->nodes;
    const ProductLevel below = level;
    level = Above(level);
    --joins_left;
    output = output_of();
    if (!output.ok()) return output.status();
    status = LaunchJoin({.nodes = nodes, .below = below, .level = level, .output = *output},
                        kernels, blocks_max, stream);
  }
  return status;
}

}  // namespace gridfold::kernels::cuda
