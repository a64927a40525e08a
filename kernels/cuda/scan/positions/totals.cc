#include "kernels/cuda/scan/positions/totals.h"

#include <algorithm>
#include <cstddef>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/scan/base/launching.h"
#include "kernels/cuda/scan/positions/totals_kernels.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

namespace {

absl::StatusOr<ScanTotalsKernels> KernelsOf(const ScanPlan& plan, bool accumulator_output) {
  return VisitScanOperator(
      OperatorOf(plan), [&](auto operation) -> absl::StatusOr<ScanTotalsKernels> {
        constexpr ScanOperation kOperation = operation();
        if constexpr (kOperation == ScanOperation::kUnboundedSum ||
                      kOperation == ScanOperation::kScaledProduct) {
          return absl::InternalError("no plan asks for the wide form of an operation");
        } else {
          return FindScanTotalsKernels<kOperation>(plan.array.element_type, accumulator_output);
        }
      });
}

LaunchShape WarpsShape(uint64_t warps) {
  LaunchShape shape;
  shape.grid = dim3(static_cast<uint32_t>(CeilDivide(warps, kTotalsWarps)));
  shape.block = dim3(kTotalsWarps * kScanLanes);
  return shape;
}

}  // namespace

absl::StatusOr<DeviceTotals> LaunchTotalsOfBlocks(const ScanPlan& plan,
                                                  const ScanArguments& arguments, Scratch& scratch,
                                                  const DeviceProperties& properties,
                                                  cudaStream_t stream) {
  const auto kernels = KernelsOf(plan, arguments.accumulator_output);
  if (!kernels.ok()) return kernels.status();
  const uint64_t tiles = CeilDivide(plan.array.element_count, kernels->tile_size);
  const uint64_t blocks = CeilDivide(tiles, kScanTilesPerBlock);
  const uint64_t totals_bytes = blocks * kernels->value_bytes;
  const auto tile_totals = scratch.Allocate<std::byte>(tiles * kernels->value_bytes);
  if (!tile_totals.ok()) return tile_totals.status();
  const auto block_totals = scratch.Allocate<std::byte>(totals_bytes);
  if (!block_totals.ok()) return block_totals.status();

  LaunchShape shape = WarpsShape(tiles);
  const auto resident = static_cast<uint32_t>(kTotalsBlocks * properties.multiprocessor_count);
  shape.grid.x = std::min(shape.grid.x, resident);
  shape.shared_bytes = kernels->shared_bytes;
  const auto tile_count = static_cast<uint32_t>(tiles);
  absl::Status status = Launch(kernels->tiles, shape, stream, arguments, tile_count, *tile_totals);
  if (status.ok()) {
    status = Launch(kernels->blocks, WarpsShape(blocks), stream, tile_count, *tile_totals,
                    *block_totals);
  }
  if (!status.ok()) return status;
  return DeviceTotals{*block_totals, totals_bytes};
}

}  // namespace gridfold::kernels::cuda
