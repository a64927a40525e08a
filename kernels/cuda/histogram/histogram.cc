#include "kernels/cuda/histogram/histogram.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/histogram/compact.h"
#include "kernels/cuda/histogram/partitions/partitions.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/guesses.h"
#include "kernels/cuda/histogram/plan/launch.h"
#include "kernels/cuda/histogram/plan/tables.h"
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

// Enqueues the counting into `histogram`, whose bins are resolved.
absl::Status LaunchCounting(const HistogramPlan& plan, const DeviceHistogramInput& input,
                            Scratch& scratch, const DeviceProperties& properties,
                            cudaStream_t stream, const HistogramOverrides& overrides,
                            DeviceHistogram& histogram) {
  const uint64_t outcome_count = uint64_t{plan.channel_count} * kOutcomeCount;
  const uint64_t word_count = plan.total_bin_count() + outcome_count;
  const auto words = scratch.Allocate<uint64_t>(word_count);
  if (!words.ok()) return words.status();
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(*words, 0, word_count * sizeof(uint64_t), stream));
  const auto tables = UploadTables(histogram.bins, scratch, stream);
  if (!tables.ok()) return tables.status();
  const HistogramGuesses guesses = GuessesOf(plan, input, *tables);
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
  histogram.strategy = launch->strategy;
  histogram.outcomes = arguments.outcomes;
  histogram.values = *words + outcome_count;
  histogram.value_count = arguments.bin_count;
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
  const uint64_t words = ScratchBytes((bin_count + bins_count * kOutcomeCount) * sizeof(uint64_t));
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
  absl::Status status;
  if (plan.needs_range()) {
    status = ResolveRanges(plan, input, scratch, properties, stream, histogram.bins);
  }
  if (status.ok()) {
    status = LaunchCounting(plan, input, scratch, properties, stream, overrides, histogram);
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
