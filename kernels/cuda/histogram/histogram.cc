#include "kernels/cuda/histogram/histogram.h"

#include <algorithm>
#include <span>
#include <type_traits>

#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/histogram/compact.h"
#include "kernels/cuda/histogram/partitions/partitions.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/extreme_keys.h"
#include "kernels/cuda/histogram/plan/guesses.h"
#include "kernels/cuda/histogram/plan/launch.h"
#include "kernels/cuda/histogram/plan/tables.h"
#include "kernels/cuda/histogram/plan/together.h"
#include "kernels/cuda/histogram/range.h"
#include "kernels/cuda/histogram/weights/weights.h"

namespace gridfold::kernels::cuda {

namespace {

// Quantiles are read off all counts, so those come to the host anyway.
bool IsCompacted(const HistogramPlan& plan) { return plan.sparse && plan.quantiles.empty(); }

HistogramArguments ArgumentsOf(const HistogramPlan& plan, const DeviceHistogramInput& input,
                               const HistogramTables& tables, const HistogramStrategy& strategy,
                               const HistogramOverrides& overrides) {
  HistogramArguments arguments;
  arguments.samples = input.samples.data;
  if (plan.two_dimensional) arguments.y_samples = input.y_samples.data;
  if (plan.weight_type.has_value()) {
    arguments.weights = input.weights.data;
    arguments.weight_type = *plan.weight_type;
  }
  arguments.out_of_range_policy = plan.out_of_range_policy;
  arguments.channel_count = plan.channel_count;
  arguments.sample_count = plan.array.element_count;
  arguments.channels = tables.channels;
  std::copy(tables.few_channels.begin(), tables.few_channels.end(), arguments.few_channels);
  arguments.edges = tables.edges;
  arguments.edge_count = tables.edge_count;
  arguments.edges_in_shared = strategy.edges_in_shared;
  arguments.bin_count = plan.total_bin_count();
  arguments.copies = strategy.copies;
  arguments.bins_per_block = strategy.bins_per_block;
  arguments.part_count = strategy.part_count;
  arguments.window_words = strategy.window_words;
  arguments.escape_words = strategy.escape_words;
  arguments.queue_entries = strategy.queue_entries;
  arguments.ring_stages = strategy.ring_stages;
  // A counter may get all samples of its block.
  arguments.steps_per_flush =
      std::max<uint64_t>(1, overrides.samples_per_flush / kHistogramThreads);
  return arguments;
}

// The edges of the bins of a part.
std::span<const double> PartOf(std::span<const double> edges, const HistogramStrategy& strategy,
                               uint32_t part) {
  const uint64_t first = uint64_t{part} * strategy.bins_per_block;
  return edges.subspan(
      first, std::min<uint64_t>(strategy.bins_per_block + uint64_t{1}, edges.size() - first));
}

// Sets what kernels with cells are given beside the edges.
void SetCells(ElementType type, std::span<const double> edges, const HistogramStrategy& strategy,
              HistogramArguments& arguments) {
  VisitElementType(type, [&](auto tag) {
    using W = CellWide<typename decltype(tag)::type>;
    for (uint32_t p = 0; p < strategy.part_count; ++p) {
      const BinCells<W> cells = MakeBinCells<W>(PartOf(edges, strategy, p), strategy.cell_count);
      if constexpr (std::is_same_v<W, float>) {
        arguments.float_cells[p] = cells;
      } else {
        arguments.double_cells[p] = cells;
      }
    }
  });
  arguments.last_edge_for_cells = LastEdgeForCells(edges.back());
}

// Says how the histogram is counted, and where kernels with these arguments leave it.
void SetAnswer(const CountingLaunch& launch, const HistogramArguments& arguments,
               DeviceHistogram& histogram) {
  histogram.strategy = launch.strategy;
  histogram.cluster_size = launch.shape.cluster_size;
  histogram.outcomes = arguments.outcomes;
  histogram.values = arguments.counters;
  histogram.value_count = arguments.bin_count;
}

// Enqueues the counting into `histogram`, whose bins are resolved.
absl::Status LaunchCounting(const HistogramPlan& plan, const DeviceHistogramInput& input,
                            Scratch& scratch, const DeviceProperties& properties,
                            cudaStream_t stream, const HistogramOverrides& overrides,
                            DeviceHistogram& histogram) {
  const uint64_t outcome_count = uint64_t{plan.channel_count} * kOutcomeCount;
  const uint64_t word_count = plan.total_bin_count() + outcome_count;
  const auto words = AllocateZeroed<uint64_t>(scratch, word_count, stream);
  if (!words.ok()) return words.status();
  const auto tables = UploadTables(histogram.bins, input.edges, scratch, stream);
  if (!tables.ok()) return tables.status();
  // Making guesses takes time in proportion to the bins. Where these are more than the samples, no
  // kernel guesses.
  const bool is_guessed = overrides.method.has_value() || !plan.strategy.empty() ||
                          plan.array.element_count >= plan.total_bin_count();
  const HistogramGuesses guesses =
      is_guessed ? GuessesOf(plan, input, *tables) : HistogramGuesses{};
  const auto launch =
      PlanCountingLaunch(plan, tables->edge_count, guesses.kind, properties, overrides.method);
  if (!launch.ok()) return launch.status();

  HistogramArguments arguments = ArgumentsOf(plan, input, *tables, launch->strategy, overrides);
  std::copy(guesses.guesses.begin(), guesses.guesses.end(), arguments.guesses);
  if (launch->strategy.cell_count > 0) {
    SetCells(plan.array.element_type, histogram.bins[0].edges, launch->strategy, arguments);
  }
  arguments.outcomes = *words;
  arguments.counters = *words + outcome_count;
  SetAnswer(*launch, arguments, histogram);
  if (plan.weight_type.has_value()) {
    auto* const rounded = reinterpret_cast<double*>(arguments.counters);
    return SumWeights(plan, *launch, arguments, rounded, scratch, stream, overrides,
                      histogram.weight_states);
  }
  if (plan.array.element_count == 0) return absl::OkStatus();
  if (launch->strategy.method == HistogramMethod::kPartitions) {
    return CountByPartitions(plan, *launch, arguments, scratch, stream);
  }
  return Launch(launch->kernel, launch->shape, stream, arguments);
}

// Enqueues all of a histogram in one launch.
absl::Status LaunchTogether(const HistogramPlan& plan, const DeviceHistogramInput& input,
                            const CountingLaunch& launch, Scratch& scratch, cudaStream_t stream,
                            const HistogramOverrides& overrides, DeviceHistogram& histogram) {
  const uint64_t bins_count = plan.bins.size();
  const bool needs_range = plan.needs_range();
  constexpr uint64_t kKeyWords = sizeof(ExtremeKeys) / sizeof(uint64_t);
  const uint64_t key_words = needs_range ? bins_count * kKeyWords : 0;
  const uint64_t outcome_count = uint64_t{plan.channel_count} * kOutcomeCount;
  const uint64_t word_count = key_words + outcome_count + plan.total_bin_count();
  // Blocks of a grid add to what stands there, which they can do in device memory only.
  const bool is_direct = launch.strategy.method == HistogramMethod::kOneCluster &&
                         word_count <= input.direct.size() && !IsCompacted(plan);
  const absl::StatusOr<uint64_t*> words =
      is_direct ? input.direct.data() : scratch.Allocate<uint64_t>(word_count);
  if (!words.ok()) return words.status();
  const auto tables = UploadTables(histogram.bins, input.edges, scratch, stream);
  if (!tables.ok()) return tables.status();

  TogetherArguments arguments{
      .histogram = ArgumentsOf(plan, input, *tables, launch.strategy, overrides),
      .bins_count = static_cast<uint32_t>(bins_count),
      .needs_range = needs_range};
  arguments.histogram.outcomes = *words + key_words;
  arguments.histogram.counters = arguments.histogram.outcomes + outcome_count;
  if (needs_range) {
    for (size_t c = 0; c < bins_count; ++c) {
      arguments.is_automatic[c] = plan.bins[c].automatic_range;
    }
    const auto block_keys = scratch.Allocate<ExtremeKeys>(kTogetherBlocksMax * bins_count);
    if (!block_keys.ok()) return block_keys.status();
    arguments.block_keys = *block_keys;
    arguments.keys = reinterpret_cast<ExtremeKeys*>(*words);
    histogram.range_keys = *words;
  }
  SetAnswer(launch, arguments.histogram, histogram);
  return Launch(launch.together_kernel, launch.shape, stream, arguments);
}

// Leaves out the bins that are zero, and waits to learn how many are left.
absl::Status Compact(const HistogramPlan& plan, Scratch& scratch,
                     const DeviceProperties& properties, cudaStream_t stream,
                     DeviceHistogram& histogram) {
  const uint64_t bin_count = histogram.value_count;
  const auto words = scratch.Allocate<uint64_t>(2 * bin_count + 1);
  if (!words.ok()) return words.status();
  const CompactOutput output{
      .values = *words, .indices = *words + bin_count, .count = *words + 2 * bin_count};
  const WordKind kind = plan.weight_type.has_value() ? WordKind::kFloat64 : WordKind::kInteger;
  const absl::Status status =
      LaunchCompact(histogram.values, bin_count, kind, output, scratch, properties, stream);
  if (!status.ok()) return status;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(&histogram.value_count, output.count,
                                                sizeof(uint64_t), cudaMemcpyDeviceToHost, stream));
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
  histogram.values = output.values;
  histogram.indices = output.indices;
  return absl::OkStatus();
}

// All scratch but that of ranges.
uint64_t CountingScratchBytes(uint64_t bin_count, uint64_t bins_count, uint64_t edge_count,
                              bool is_compacted) {
  // And the extremes that LaunchTogether has before them.
  const uint64_t words = ScratchBytes((bin_count + bins_count * kOutcomeCount) * sizeof(uint64_t) +
                                      kHistogramTogetherBinsMax * sizeof(ExtremeKeys));
  const uint64_t compacted =
      ScratchBytes((2 * bin_count + 1) * sizeof(uint64_t)) + CompactScratchBytes(bin_count);
  return words + HistogramTablesBytes(bins_count, edge_count) + (is_compacted ? compacted : 0);
}

}  // namespace

uint64_t HistogramScratchBytes(const HistogramPlan& plan) {
  // Sums of weights or entries of a queue.
  const uint64_t work =
      plan.weight_type.has_value() ? WeightScratchBytes(plan) : PartitionScratchBytes(plan);
  return RangeScratchBytes(plan) + work +
         CountingScratchBytes(plan.total_bin_count(), plan.bins.size(),
                              EdgeTables(plan.bins).edge_count, IsCompacted(plan));
}

uint64_t HistogramScratchBytesMax(uint64_t bin_count) {
  // Two dimensions of n and m bins have n + m + 2 edges, which is at most n * m + 3.
  const uint64_t bins_count = std::max<uint64_t>(2, std::min(bin_count, kHistogramChannelsPlanned));
  return RangeScratchBytesMax(bins_count) +
         std::max(WeightScratchBytesMax(bin_count), PartitionScratchBytesMax(bin_count)) +
         CountingScratchBytes(bin_count, bins_count, bin_count + 1 + bins_count, true);
}

absl::StatusOr<DeviceHistogram> LaunchHistogram(const HistogramPlan& plan,
                                                const DeviceHistogramInput& input, Scratch& scratch,
                                                const DeviceProperties& properties,
                                                cudaStream_t stream,
                                                const HistogramOverrides& overrides) {
  DeviceHistogram histogram;
  histogram.bins = plan.bins;
  const absl::StatusOr<std::optional<CountingLaunch>> together =
      PlanTogetherLaunch(plan, properties, overrides.method);
  absl::Status status = together.status();
  if (status.ok() && together->has_value()) {
    status = LaunchTogether(plan, input, **together, scratch, stream, overrides, histogram);
  } else if (status.ok()) {
    if (plan.needs_range()) {
      status = ResolveRanges(plan, input, scratch, properties, stream, histogram.bins);
    }
    if (status.ok()) {
      status = LaunchCounting(plan, input, scratch, properties, stream, overrides, histogram);
    }
  }
  if (status.ok() && IsCompacted(plan)) {
    status = Compact(plan, scratch, properties, stream, histogram);
  }
  if (!status.ok()) return status;
  return histogram;
}

uint64_t HistogramBytesRead(const HistogramPlan& plan) {
  const uint64_t samples = plan.array.size_bytes() * (plan.two_dimensional ? 2 : 1);
  const uint64_t range = plan.needs_range() ? samples : 0;
  if (!plan.weight_type.has_value()) return range + samples;
  const uint64_t weights = plan.array.element_count * ElementSize(*plan.weight_type);
  return range + (samples + weights) * WeightPassCount(plan);
}

}  // namespace gridfold::kernels::cuda
