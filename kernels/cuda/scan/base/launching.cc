#include "kernels/cuda/scan/base/launching.h"

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/scan/base/arguments.h"

namespace gridfold::kernels::cuda {

LaunchShape GridStrideShape(uint64_t threads, uint32_t block_threads,
                            const DeviceProperties& properties) {
  const uint64_t threads_max = static_cast<uint64_t>(properties.multiprocessor_count) *
                               static_cast<uint64_t>(properties.threads_per_multiprocessor_max);
  LaunchShape shape;
  shape.grid = dim3(GridStrideBlocks(threads, block_threads, threads_max / block_threads));
  shape.block = dim3(block_threads);
  return shape;
}

uint32_t ScanTileSharedBytes(const ScanPlan& plan) {
  const ElementType type = plan.array.element_type;
  const uint32_t items = PaddedTileBytes(static_cast<uint32_t>(ElementSize(type)));
  if (plan.output_type == type) return items;
  return items + PaddedTileBytes(static_cast<uint32_t>(ElementSize(plan.output_type)));
}

}  // namespace gridfold::kernels::cuda
