#include "kernels/cuda/histogram_launch.h"

#include <algorithm>

#include "kernels/cuda/grid.h"
#include "kernels/cuda/histogram_weights.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kClusterSizeMax = 16;  // More than 8 is not portable; Launch asks for it.

HistogramKernel FindKernel(const HistogramPlan& plan, HistogramMethod method) {
  const ElementType type = plan.array.element_type;
  const bool weighted = plan.weight_type.has_value();
  switch (method) {
    case HistogramMethod::kShared:
      return weighted ? FindSharedWeightsKernel(type) : FindSharedHistogramKernel(type);
    case HistogramMethod::kCluster: return FindClusterHistogramKernel(type);
    case HistogramMethod::kGlobal: break;
  }
  return weighted ? FindGlobalWeightsKernel(type) : FindGlobalHistogramKernel(type);
}

// Blocks of the launch that the device holds at once; 0 where its clusters are not possible.
absl::StatusOr<uint64_t> ResidentBlocks(const CountingLaunch& launch,
                                        const DeviceProperties& properties) {
  const void* const kernel = reinterpret_cast<const void*>(launch.kernel);
  if (launch.strategy.method == HistogramMethod::kCluster) {
    const absl::StatusOr<int> clusters = ResidentClusters(kernel, launch.shape);
    if (!clusters.ok()) return clusters.status();
    return static_cast<uint64_t>(*clusters) * launch.strategy.cluster_size;
  }
  const absl::StatusOr<int> blocks =
      ResidentBlocksPerMultiprocessor(kernel, kHistogramThreads, launch.shape.shared_bytes);
  if (!blocks.ok()) return blocks.status();
  return static_cast<uint64_t>(*blocks) * static_cast<uint64_t>(properties.multiprocessor_count);
}

// As many blocks as are resident at once, but no more than the samples keep busy; a thread for each
// channel at least; a multiple of the cluster's size.
uint32_t GridBlocks(const HistogramPlan& plan, const HistogramStrategy& strategy,
                    uint64_t resident_blocks) {
  const uint64_t for_samples = GridStrideBlocks(
      plan.array.element_count, uint64_t{kHistogramThreads} * kClusterItems, resident_blocks);
  const uint64_t for_channels = CeilDivide(plan.channel_count, kHistogramThreads);
  return static_cast<uint32_t>(RoundUp(std::max(for_samples, for_channels), strategy.cluster_size));
}

}  // namespace

absl::StatusOr<CountingLaunch> PlanCountingLaunch(const HistogramPlan& plan, uint64_t edge_count,
                                                  const DeviceProperties& properties,
                                                  std::optional<HistogramMethod> forced) {
  const uint32_t weight_words =
      plan.weight_type.has_value() ? WeightLayoutOf(*plan.weight_type).words : 0;
  const HistogramShape shape{.sample_count = plan.array.element_count,
                             .bin_count = plan.total_bin_count(),
                             .edge_count = edge_count,
                             .weight_words = weight_words};
  HistogramLimits limits{
      .shared_bytes_max = static_cast<uint32_t>(properties.shared_bytes_per_block_max),
      .cluster_size_max = properties.has_clusters ? kClusterSizeMax : 1};
  for (;;) {
    const auto strategy = ChooseHistogramStrategy(shape, limits, forced);
    if (!strategy.ok()) return strategy.status();
    CountingLaunch launch;
    launch.strategy = *strategy;
    launch.kernel = FindKernel(plan, strategy->method);
    launch.shape.grid = dim3(strategy->cluster_size);
    launch.shape.block = dim3(kHistogramThreads);
    launch.shape.shared_bytes = strategy->shared_bytes;
    launch.shape.cluster_size = strategy->cluster_size;
    const absl::StatusOr<uint64_t> resident = ResidentBlocks(launch, properties);
    if (!resident.ok()) return resident.status();
    if (*resident > 0 || strategy->method != HistogramMethod::kCluster) {
      launch.shape.grid = dim3(GridBlocks(plan, *strategy, *resident));
      return launch;
    }
    // A device may have no part that holds so many blocks of this kernel together.
    limits.cluster_size_max = strategy->cluster_size / 2;
  }
}

}  // namespace gridfold::kernels::cuda
