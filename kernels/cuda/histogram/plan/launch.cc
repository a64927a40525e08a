#include "kernels/cuda/histogram/plan/launch.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/contract/strategy_error.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/plan/distributed.h"
#include "kernels/cuda/histogram/plan/partition_kernels.h"
#include "kernels/cuda/histogram/plan/tables.h"
#include "kernels/cuda/histogram/plan/weight_kernels.h"
#include "kernels/numerics/bins/cells.h"

namespace gridfold::kernels::cuda {

namespace {

bool HasOneChannel(const HistogramPlan& plan) {
  return plan.channel_count == 1 && !plan.two_dimensional && !plan.weight_type.has_value();
}

bool HasCells(const HistogramPlan& plan) {
  return HasOneChannel(plan) && plan.bins[0].kind == BinKind::kTable &&
         FindCellsHistogramKernel(plan.array.element_type) != nullptr;
}

uint32_t CellEdgeBytes(ElementType type) {
  return VisitElementType(
      type, [](auto tag) { return uint32_t{sizeof(CellWide<typename decltype(tag)::type>)}; });
}

// Words of a window for sums of 2^23 weights at most: see histogram/weights/windows.cu.
WindowWords WindowWordsOf(ElementType weight_type) {
  if (weight_type == ElementType::kFloat64) {
    return {.min = kDoubleWindowWordsMin,
            .max = kDoubleWindowWordsMax,
            .queue_entry_words = WeightQueueEntryWords(sizeof(double))};
  }
  if (weight_type == ElementType::kFloat32) {
    return {.min = kWindowWordsMin,
            .max = kWindowWordsMax,
            .escape_words = kWeightEscapeWords,
            .queue_entry_words = WeightQueueEntryWords(sizeof(float))};
  }
  const uint32_t words = ElementSize(weight_type) == 1 ? 1 : 2;
  return {.min = words, .max = words, .queue_entry_words = WeightQueueEntryWords(sizeof(uint32_t))};
}

HistogramKernel FindGuessingKernel(ElementType type, GuessKind kind) {
  switch (kind) {
    case GuessKind::kChannels: return FindChannelsHistogramKernel(type);
    case GuessKind::kPlane: return FindPlaneHistogramKernel(type);
    case GuessKind::kNone:
    case GuessKind::kOneChannel:
    case GuessKind::kWeighted: break;
  }
  return FindEvenHistogramKernel(type);
}

HistogramKernel FindKernel(const HistogramPlan& plan, const HistogramStrategy& strategy,
                           GuessKind guess_kind) {
  const ElementType type = plan.array.element_type;
  const bool weighted = plan.weight_type.has_value();
  switch (strategy.method) {
    case HistogramMethod::kValues: return FindValuesHistogramKernel(type);
    case HistogramMethod::kShared:
    case HistogramMethod::kParts:
      if (strategy.window_words > 0) return FindWindowWeightsKernel(type, *plan.weight_type);
      if (weighted) return FindSharedWeightsKernel(type);
      if (guess_kind != GuessKind::kNone) return FindGuessingKernel(type, guess_kind);
      if (strategy.cell_count > 0) return FindCellsHistogramKernel(type);
      return FindSharedHistogramKernel(type);
    case HistogramMethod::kCluster: return FindClusterHistogramKernel(type);
    case HistogramMethod::kPartitions:
      return weighted ? FindWeightedSplitKernel(type, *plan.weight_type)
                      : FindSplitKernel(type, guess_kind);
    case HistogramMethod::kDistributed: return FindDistributedHistogramKernel(type);
    case HistogramMethod::kOneCluster:
    case HistogramMethod::kOneGrid: return nullptr;  // CountingLaunch::together_kernel.
    case HistogramMethod::kGlobal: break;
  }
  return weighted ? FindGlobalWeightsKernel(type) : FindGlobalHistogramKernel(type);
}

bool IsOfClusters(HistogramMethod method) {
  return method == HistogramMethod::kCluster || method == HistogramMethod::kDistributed;
}

// Blocks of all clusters that the device holds at once, which depends on how many multiprocessors
// its parts were left with.
absl::StatusOr<uint64_t> ClusterBlocks(const CountingLaunch& launch) {
  const absl::StatusOr<int> clusters =
      ResidentClusters(reinterpret_cast<const void*>(launch.kernel), launch.shape);
  if (!clusters.ok()) return clusters.status();
  if (*clusters == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("no cluster of ", launch.shape.cluster_size, " blocks fits this device"));
  }
  return static_cast<uint64_t>(*clusters) * launch.shape.cluster_size;
}

// Blocks of the launch that the device holds at once.
absl::StatusOr<uint64_t> ResidentBlocks(const HistogramPlan& plan, const CountingLaunch& launch,
                                        const DeviceProperties& properties) {
  if (launch.shape.cluster_size > 1) return ClusterBlocks(launch);
  const uint64_t multiprocessors = static_cast<uint64_t>(properties.multiprocessor_count);
  // A block that counts in shared memory is made to fill its multiprocessor: no need to ask, which
  // takes as long as a launch.
  const bool fills =
      launch.strategy.method == HistogramMethod::kPartitions ||
      (launch.strategy.method != HistogramMethod::kGlobal && !plan.weight_type.has_value());
  if (fills) return multiprocessors;
  const absl::StatusOr<int> blocks = ResidentBlocksPerMultiprocessor(
      reinterpret_cast<const void*>(launch.kernel), kHistogramThreads, launch.shape.shared_bytes);
  if (!blocks.ok()) return blocks.status();
  return static_cast<uint64_t>(*blocks) * multiprocessors;
}

// The kernel and grid of blocks that meet.
absl::Status PlanTogether(const HistogramPlan& plan, const DeviceProperties& properties,
                          CountingLaunch& launch) {
  const ElementType type = plan.array.element_type;
  if (launch.strategy.method == HistogramMethod::kOneGrid) {
    constexpr uint64_t kSamplesPerBlock = 4 * kHistogramThreads;
    launch.together_kernel = FindGridTogetherKernel(type);
    launch.shape.cooperative = true;
    // A block fills its multiprocessor.
    launch.shape.grid = dim3(
        GridStrideBlocks(plan.array.element_count, kSamplesPerBlock,
                         std::min<uint64_t>(static_cast<uint64_t>(properties.multiprocessor_count),
                                            kTogetherBlocksMax)));
    return absl::OkStatus();
  }
  launch.together_kernel = FindClusterTogetherKernel(type);
  const absl::StatusOr<uint32_t> blocks_max =
      ClusterBlocksMax(reinterpret_cast<const void*>(launch.together_kernel), kHistogramThreads);
  if (!blocks_max.ok()) return blocks_max.status();
  launch.shape.cluster_size = std::min(launch.strategy.cluster_blocks, *blocks_max);
  launch.shape.grid = dim3(launch.shape.cluster_size);
  return absl::OkStatus();
}

// The blocks of the grid: as many as are resident at once, but no more than the samples keep busy;
// of each part, a thread for each channel at least.
uint32_t GridBlocks(const HistogramPlan& plan, const HistogramStrategy& strategy,
                    uint64_t resident_blocks) {
  // The blocks of partitions do not read the same samples, but share them out.
  if (strategy.method == HistogramMethod::kPartitions) {
    return static_cast<uint32_t>(resident_blocks);
  }
  constexpr uint64_t kSamplesPerThread = 4;
  const uint64_t for_samples =
      GridStrideBlocks(plan.array.element_count, kHistogramThreads * kSamplesPerThread,
                       resident_blocks / strategy.part_count);
  const uint64_t for_channels = CeilDivide(plan.channel_count, kHistogramThreads);
  // Whole clusters, of which blocks of parts are.
  return static_cast<uint32_t>(
      RoundUp(std::max(for_samples, for_channels), uint64_t{strategy.cluster_blocks}) *
      strategy.part_count);
}

HistogramShape ShapeOf(const HistogramPlan& plan, uint64_t edge_count, GuessKind guess_kind,
                       bool needs_range) {
  const bool weighted = plan.weight_type.has_value();
  const bool by_value = !weighted && !plan.two_dimensional &&
                        CanCountByValue(ElementSize(plan.array.element_type), plan.channel_count);
  return {.sample_count = plan.array.element_count,
          .bin_count = plan.total_bin_count(),
          .edge_count = edge_count,
          .can_split = CanSplit(ElementSize(plan.array.element_type)) &&
                       (guess_kind == GuessKind::kOneChannel || guess_kind == GuessKind::kPlane),
          .has_cells = HasCells(plan),
          .cell_edge_bytes = CellEdgeBytes(plan.array.element_type),
          .value_count = by_value ? uint64_t{kByteValues} * plan.channel_count : 0,
          .weight_words = weighted ? WeightLayoutOf(*plan.weight_type).words : 0,
          .weight_bytes = weighted ? static_cast<uint32_t>(ElementSize(*plan.weight_type)) : 0,
          .window_words =
              guess_kind == GuessKind::kWeighted ? WindowWordsOf(*plan.weight_type) : WindowWords{},
          .is_guessed = guess_kind == GuessKind::kOneChannel,
          .bins_count = plan.two_dimensional ? 2 : uint64_t{plan.channel_count},
          .needs_range = needs_range};
}

absl::StatusOr<CountingLaunch> ChooseLaunch(const HistogramShape& shape,
                                            const DeviceProperties& properties,
                                            std::optional<HistogramMethod> forced) {
  const HistogramLimits limits{
      .shared_bytes_max = static_cast<uint32_t>(properties.shared_bytes_per_block_max) -
                          (shape.has_cells ? kHistogramCellsOwnBytes : kHistogramOwnBytes),
      .has_clusters = properties.has_clusters};
  const auto strategy = ChooseHistogramStrategy(shape, limits, forced);
  if (!strategy.ok()) return strategy.status();
  CountingLaunch launch;
  launch.strategy = *strategy;
  launch.shape.block = dim3(kHistogramThreads);
  launch.shape.shared_bytes = strategy->shared_bytes;
  return launch;
}

// The launch of a plan whose blocks meet, by the forced method or the one that is thought best.
absl::StatusOr<std::optional<CountingLaunch>> PlanTogetherBy(
    const HistogramPlan& plan, const DeviceProperties& properties,
    std::optional<HistogramMethod> forced) {
  if (plan.weight_type.has_value() || plan.bins.size() > kHistogramTogetherBinsMax) {
    return std::nullopt;
  }
  const uint64_t edge_count = EdgeTables(plan.bins).edge_count;
  absl::StatusOr<CountingLaunch> launch = ChooseLaunch(
      ShapeOf(plan, edge_count, GuessKind::kNone, plan.needs_range()), properties, forced);
  if (!launch.ok() || !IsTogether(launch->strategy.method)) return std::nullopt;
  const absl::Status status = PlanTogether(plan, properties, *launch);
  if (!status.ok()) return status;
  return *std::move(launch);
}

absl::StatusOr<CountingLaunch> PlanCountingBy(const HistogramPlan& plan, uint64_t edge_count,
                                              GuessKind guess_kind,
                                              const DeviceProperties& properties,
                                              std::optional<HistogramMethod> forced) {
  absl::StatusOr<CountingLaunch> launch =
      ChooseLaunch(ShapeOf(plan, edge_count, guess_kind, false), properties, forced);
  if (!launch.ok()) return launch;
  if (IsTogether(launch->strategy.method)) {
    return absl::FailedPreconditionError(
        absl::StrCat(HistogramMethodName(launch->strategy.method), " is a launch of its own"));
  }
  launch->kernel = FindKernel(plan, launch->strategy, guess_kind);
  if (IsOfClusters(launch->strategy.method)) {
    launch->shape.cluster_size =
        std::max(launch->strategy.part_count, launch->strategy.cluster_blocks);
    launch->shape.grid = dim3(launch->shape.cluster_size);
  }
  const absl::StatusOr<uint64_t> resident = ResidentBlocks(plan, *launch, properties);
  if (!resident.ok()) return resident.status();
  launch->shape.grid = dim3(GridBlocks(plan, launch->strategy, *resident));
  return launch;
}

// The strategies that can count a plan whose bins are guessed so.
std::vector<std::string> TakersOf(const HistogramPlan& plan, uint64_t edge_count,
                                  GuessKind guess_kind, const DeviceProperties& properties) {
  std::vector<std::string> takers;
  for (const HistogramMethod method : kHistogramMethods) {
    const bool can_take =
        IsTogether(method)
            ? PlanTogetherBy(plan, properties, method).value_or(std::nullopt).has_value()
            : PlanCountingBy(plan, edge_count, guess_kind, properties, method).ok();
    if (can_take) takers.emplace_back(HistogramMethodName(method));
  }
  return takers;
}

}  // namespace

absl::StatusOr<std::optional<CountingLaunch>> PlanTogetherLaunch(
    const HistogramPlan& plan, const DeviceProperties& properties,
    std::optional<HistogramMethod> forced) {
  if (plan.strategy.empty()) return PlanTogetherBy(plan, properties, forced);
  const std::optional<HistogramMethod> named = FindHistogramMethod(plan.strategy);
  if (!named.has_value() || !IsTogether(*named)) return std::nullopt;
  return PlanTogetherBy(plan, properties, named);
}

absl::StatusOr<CountingLaunch> PlanCountingLaunch(const HistogramPlan& plan, uint64_t edge_count,
                                                  GuessKind guess_kind,
                                                  const DeviceProperties& properties,
                                                  std::optional<HistogramMethod> forced) {
  if (plan.strategy.empty()) {
    return PlanCountingBy(plan, edge_count, guess_kind, properties, forced);
  }
  if (const std::optional<HistogramMethod> named = FindHistogramMethod(plan.strategy)) {
    absl::StatusOr<CountingLaunch> launch =
        PlanCountingBy(plan, edge_count, guess_kind, properties, named);
    if (!absl::IsFailedPrecondition(launch.status())) return launch;
  }
  return StrategyError(plan.strategy, TakersOf(plan, edge_count, guess_kind, properties));
}

}  // namespace gridfold::kernels::cuda
