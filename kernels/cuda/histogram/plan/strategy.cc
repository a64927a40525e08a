#include "kernels/cuda/histogram/plan/strategy.h"

#include <algorithm>
#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/multicast_ring.h"
#include "kernels/cuda/histogram/plan/partition_kernels.h"
#include "kernels/numerics/bins/cells.h"

namespace gridfold::kernels::cuda {

namespace {

// Copies of sums of weights take no more than this, so that a multiprocessor holds two blocks.
constexpr uint64_t kWeightCopiesBytesMax = 64 * 1024;
constexpr uint32_t kCopiesMax = 32;  // One for each lane of a warp, each in a bank of its own.

// Fewer samples are not worth the counters of partitions that every block adds up.
constexpr uint64_t kPartitionedSamplesMin = uint64_t{1} << 22;

bool HasWindows(const HistogramShape& shape) { return shape.window_words.max > 0; }

// At least.
uint64_t CounterBytes(const HistogramShape& shape) {
  if (HasWindows(shape)) return shape.window_words.min * sizeof(uint32_t);
  return shape.weight_words > 0 ? shape.weight_words * sizeof(uint64_t) : sizeof(uint32_t);
}

// Counters of a block beside the counters of bins.
uint64_t OutsideCounters(const HistogramShape& shape) {
  if (HasWindows(shape)) return kWindowSpareSums;
  return shape.weight_words > 0 ? 0 : kHistogramOutsideCounters;
}

// Bytes of a block's queues of samples with weights outside of windows.
uint64_t QueueBytes(const HistogramShape& shape, uint64_t entries) {
  return entries * kHistogramWarps * shape.window_words.queue_entry_words * sizeof(uint32_t);
}

// What a block has beside counters, with queues of one entry.
uint64_t BesideCountersBytes(const HistogramShape& shape) {
  return shape.window_words.escape_words * sizeof(uint32_t) + QueueBytes(shape, 1);
}

// Bytes of counters of so many bins in a block, with what is beside them.
uint64_t CountersBytes(const HistogramShape& shape, uint64_t count, uint32_t copies) {
  return HistogramPartBytes(BesideCountersBytes(shape) +
                            (count + OutsideCounters(shape)) * copies * CounterBytes(shape));
}

// The shape with as many words in a window as one copy of `count` sums has room for.
HistogramShape WithWidestWindow(HistogramShape shape, uint64_t count,
                                const HistogramLimits& limits) {
  for (HistogramShape wider = shape; wider.window_words.min < wider.window_words.max;) {
    ++wider.window_words.min;
    if (CountersBytes(wider, count, 1) > limits.shared_bytes_max) break;
    shape = wider;
  }
  return shape;
}

// What of a block's shared memory tables take.
struct TableRoom {
  uint64_t bytes = 0;
  uint32_t cell_count = 0;
};

// Room for tables beside one copy of `count` counters: for edges and many cells, or fewer, or none;
// or for edges alone, where there are no cells.
TableRoom RoomForTables(const HistogramShape& shape, uint64_t count,
                        const HistogramLimits& limits) {
  constexpr uint64_t kCellsPerBin = 8;
  constexpr uint64_t kCellsMin = 64;
  constexpr uint64_t kCellsMax = 65'536;
  if (shape.edge_count == 0) return {};
  const bool has_cells = shape.has_cells && count <= kBinsOfCellsMax;
  const uint64_t edge_size = has_cells ? shape.cell_edge_bytes : sizeof(double);
  const uint64_t taken = CountersBytes(shape, count, 1);
  const uint64_t left =
      limits.shared_bytes_max - std::min<uint64_t>(taken, limits.shared_bytes_max);
  if (shape.edge_count > left / edge_size) return {};
  const uint64_t edge_bytes = HistogramPartBytes(shape.edge_count * edge_size);
  if (edge_bytes > left) return {};
  if (!has_cells) return {edge_bytes, 0};
  const uint64_t wanted = std::bit_ceil(kCellsPerBin * shape.edge_count);
  for (uint64_t cells = std::clamp(wanted, kCellsMin, kCellsMax); cells >= kCellsMin; cells /= 2) {
    const uint64_t bytes = edge_bytes + HistogramPartBytes(cells * sizeof(BinCellNote));
    if (bytes <= left) return {bytes, static_cast<uint32_t>(cells)};
  }
  return {};
}

HistogramStrategy WithTables(HistogramStrategy strategy, const TableRoom& room) {
  strategy.edges_in_shared = room.bytes > 0;
  strategy.cell_count = room.cell_count;
  strategy.shared_bytes += static_cast<uint32_t>(room.bytes);
  return strategy;
}

// How many entries queues have room for beside one copy of `count` counters of the least words; one
// at least.
uint32_t QueueEntries(const HistogramShape& shape, uint64_t count, const HistogramLimits& limits) {
  if (!HasWindows(shape)) return 0;
  const uint64_t taken = CountersBytes(shape, count, 1);
  const uint64_t left =
      limits.shared_bytes_max - std::min<uint64_t>(taken, limits.shared_bytes_max);
  return 1 + static_cast<uint32_t>(
                 std::min<uint64_t>(left / QueueBytes(shape, 1), kWeightQueueEntriesMax - 1));
}

// The strategy with as many copies of `count` counters as there is room for, beside tables and
// queues, and samples to be counted in them.
HistogramStrategy WithCopies(HistogramStrategy strategy, uint64_t count,
                             const HistogramShape& narrowest, const HistogramLimits& all_limits) {
  strategy.queue_entries = QueueEntries(narrowest, count, all_limits);
  // Beside the one that counters bring.
  const uint64_t queue_bytes =
      strategy.queue_entries > 0 ? QueueBytes(narrowest, strategy.queue_entries - 1) : 0;
  const HistogramLimits limits{.shared_bytes_max = all_limits.shared_bytes_max -
                                                   static_cast<uint32_t>(queue_bytes)};
  const HistogramShape shape = WithWidestWindow(narrowest, count, limits);
  strategy.window_words = shape.window_words.min;
  strategy.escape_words = shape.window_words.escape_words;
  const TableRoom tables = RoomForTables(shape, count, limits);
  uint64_t bytes_max = limits.shared_bytes_max - tables.bytes;
  if (shape.weight_words > 0 && !HasWindows(shape)) {
    bytes_max = std::min(bytes_max, kWeightCopiesBytesMax);
  }
  while (strategy.copies < kCopiesMax && count * strategy.copies < shape.sample_count &&
         CountersBytes(shape, count, strategy.copies * 2) <= bytes_max) {
    strategy.copies *= 2;
  }
  strategy.bins_per_block = static_cast<uint32_t>(count);
  strategy.shared_bytes = static_cast<uint32_t>(CountersBytes(shape, count, strategy.copies));
  strategy.shared_bytes += static_cast<uint32_t>(queue_bytes);
  return WithTables(strategy, tables);
}

// Bins whose counters a block has room for.
uint64_t BinsPerBlockMax(const HistogramShape& shape, const HistogramLimits& limits) {
  const uint64_t room = limits.shared_bytes_max - BesideCountersBytes(shape);
  const uint64_t counters =
      room / kHistogramPartAlignment * kHistogramPartAlignment / CounterBytes(shape);
  return counters - std::min(counters, OutsideCounters(shape));
}

std::optional<HistogramStrategy> Values(const HistogramShape& shape,
                                        const HistogramLimits& limits) {
  if (shape.value_count == 0 || shape.value_count > BinsPerBlockMax(shape, limits)) {
    return std::nullopt;
  }
  HistogramShape without_tables = shape;  // Bins are located once.
  without_tables.edge_count = 0;
  return WithCopies({.method = HistogramMethod::kValues}, shape.value_count, without_tables,
                    limits);
}

// Bins that grow by a factor are as narrow as 0.69 cells where there are as many cells as bins; of
// fewer cells many have several edges.
bool HasEnoughCells(const HistogramStrategy& strategy) {
  return strategy.cell_count >= 2 * uint64_t{strategy.bins_per_block};
}

std::optional<HistogramStrategy> Shared(const HistogramShape& shape,
                                        const HistogramLimits& limits) {
  if (shape.bin_count > BinsPerBlockMax(shape, limits)) return std::nullopt;
  return WithCopies({.method = HistogramMethod::kShared}, shape.bin_count, shape, limits);
}

// Parts have the edges of their own bins.
HistogramStrategy PartsOf(uint64_t part_count, HistogramShape shape,
                          const HistogramLimits& limits) {
  const uint64_t count = CeilDivide(shape.bin_count, part_count);
  // Fewer, where the last ones would have no bins.
  HistogramStrategy strategy{
      .method = HistogramMethod::kParts,
      .part_count = static_cast<uint32_t>(CeilDivide(shape.bin_count, count))};
  if (shape.has_cells) shape.edge_count = count + 1;
  return WithCopies(strategy, count, shape, limits);
}

std::optional<HistogramStrategy> Parts(const HistogramShape& shape, const HistogramLimits& limits) {
  if (shape.weight_words > 0 && !HasWindows(shape)) return std::nullopt;
  const uint64_t least =
      std::max<uint64_t>(2, CeilDivide(shape.bin_count, BinsPerBlockMax(shape, limits)));
  if (least > kHistogramPartsMax) return std::nullopt;
  for (uint64_t count = least; count <= kHistogramPartsMax; ++count) {
    const HistogramStrategy strategy = PartsOf(count, shape, limits);
    if (!shape.has_cells || HasEnoughCells(strategy)) return strategy;
  }
  HistogramShape without_cells = shape;
  without_cells.has_cells = false;
  return PartsOf(least, without_cells, limits);
}

// Whether partitions, if there are any, are faster than parts.
bool PartitionsPay(const HistogramShape& shape, const HistogramLimits& limits) {
  constexpr uint32_t kWeightPartsMax = 3;
  if (shape.sample_count < kPartitionedSamplesMin) return false;
  if (shape.weight_words == 0) return true;
  const std::optional<HistogramStrategy> parts = Parts(shape, limits);
  return !parts.has_value() || parts->part_count > kWeightPartsMax;
}

// In the smallest cluster whose blocks have room for a ring of tiles beside their counters.
std::optional<HistogramStrategy> Cluster(const HistogramShape& shape,
                                         const HistogramLimits& limits) {
  if (!limits.has_clusters || !shape.is_guessed) return std::nullopt;
  for (const uint32_t blocks : {2, 4, 8, 16}) {
    const uint64_t bins = CeilDivide(shape.bin_count, blocks);
    const uint64_t counter_bytes = CountersBytes(shape, bins, 1);
    uint32_t stages = kMulticastStagesMax;
    while (stages >= kMulticastStagesMin &&
           MulticastRingBytes(stages) + counter_bytes > limits.shared_bytes_max) {
      --stages;
    }
    if (stages < kMulticastStagesMin) continue;
    return HistogramStrategy{
        .method = HistogramMethod::kCluster,
        .part_count = blocks,
        .bins_per_block = static_cast<uint32_t>(bins),
        .ring_stages = stages,
        .shared_bytes = MulticastRingBytes(stages) + static_cast<uint32_t>(counter_bytes)};
  }
  return std::nullopt;
}

// Partitions as large as sums in the widest window allow, unless there would be too many.
std::optional<HistogramStrategy> WeightPartitions(const HistogramShape& shape,
                                                  const HistogramLimits& all_limits) {
  constexpr uint32_t kOwnBytes = 512;  // Of a block, which finds out its share of the work.
  const HistogramLimits limits{.shared_bytes_max = all_limits.shared_bytes_max - kOwnBytes};
  if (!HasWindows(shape) || !AreForWeightPartitions(shape.bin_count)) return std::nullopt;
  HistogramShape widest = shape;
  widest.window_words.min = shape.window_words.max;
  uint32_t bits = kPartitionBits;
  while (CountersBytes(widest, uint64_t{1} << bits, 1) > limits.shared_bytes_max) --bits;
  while (CeilDivide(shape.bin_count, uint64_t{1} << bits) > kPartitionsMax) ++bits;
  const uint32_t part_count =
      static_cast<uint32_t>(CeilDivide(shape.bin_count, uint64_t{1} << bits));
  if (bits > kPartitionBits ||
      CountersBytes(shape, uint64_t{1} << bits, 1) > limits.shared_bytes_max ||
      WeightedSplitBytes(part_count, shape.weight_bytes) > limits.shared_bytes_max) {
    return std::nullopt;
  }
  return WithCopies({.method = HistogramMethod::kPartitions, .part_count = part_count},
                    uint64_t{1} << bits, shape, limits);
}

std::optional<HistogramStrategy> Partitions(const HistogramShape& shape,
                                            const HistogramLimits& limits) {
  if (shape.weight_words > 0) return WeightPartitions(shape, limits);
  // Bytes of the entries of a tile, and room behind them for entries in no partition.
  constexpr uint32_t kTileBytes = 33 * 1024;
  if (!shape.can_split || !IsForPartitions(shape.bin_count)) return std::nullopt;
  HistogramStrategy strategy{
      .method = HistogramMethod::kPartitions,
      .part_count = static_cast<uint32_t>(CeilDivide(shape.bin_count, kPartitionBins)),
      .bins_per_block = kPartitionBins};
  // And a counter for each lane of each partition, and of none.
  strategy.shared_bytes = (strategy.part_count + 1) * kCopiesMax * sizeof(uint32_t) + kTileBytes;
  if (std::max(strategy.shared_bytes, kPartitionCountersBytes) > limits.shared_bytes_max) {
    return std::nullopt;
  }
  return strategy;
}

// Samples are counted in 32 bits, and not before they have been read for a range.
constexpr uint64_t kTogetherSamplesMax = uint64_t{1} << 30;
// Counters of a block that are cleared, and joined, in little time.
constexpr uint64_t kTogetherCountersMax = 8192;
constexpr uint64_t kClusterSamplesPerBlock = 4096;
constexpr uint64_t kClusterBlocksMax = 16;
// Of samples whose range is known, and of those whose range is to be found. 1,024 even bins of
// float32 by one cluster on an H100 (kernel_benchmark --sizes): 2^16 samples 12.6 us, 2^17 15.3,
// 2^18 20.6; blocks of the whole device take 15.6 of 2^19.
constexpr uint64_t kClusterSamplesMax = uint64_t{1} << 16;
constexpr uint64_t kClusterRangeSamplesMax = uint64_t{1} << 13;
constexpr uint64_t kGridRangeSamplesMax = uint64_t{1} << 23;
constexpr uint64_t kInPlaceSamplesMax = uint64_t{1} << 16;
constexpr uint64_t kInPlaceOfManyBinsMax = uint64_t{1} << 19;

std::optional<HistogramStrategy> Together(HistogramMethod method, const HistogramShape& any_shape,
                                          const HistogramLimits& all_limits) {
  HistogramShape shape = any_shape;
  shape.has_cells = false;
  const HistogramLimits limits{.shared_bytes_max = all_limits.shared_bytes_max - kTogetherOwnBytes};
  if (shape.weight_words > 0 || shape.bins_count > kHistogramTogetherBinsMax ||
      shape.sample_count > kTogetherSamplesMax ||
      shape.bin_count > BinsPerBlockMax(shape, limits) ||
      (method == HistogramMethod::kOneCluster && !all_limits.has_clusters)) {
    return std::nullopt;
  }
  HistogramShape with_few_copies = shape;
  with_few_copies.sample_count = std::min(shape.sample_count, kTogetherCountersMax);
  HistogramStrategy strategy{.method = method};
  if (method == HistogramMethod::kOneCluster) {
    const uint64_t blocks = CeilDivide(shape.sample_count, kClusterSamplesPerBlock);
    strategy.cluster_blocks =
        static_cast<uint32_t>(std::bit_ceil(std::clamp<uint64_t>(blocks, 1, kClusterBlocksMax)));
  }
  return WithCopies(strategy, shape.bin_count, with_few_copies, limits);
}

std::optional<HistogramStrategy> Distributed(const HistogramShape& shape,
                                             const HistogramLimits& limits) {
  // Of a block, unless the largest cluster has too few.
  constexpr uint64_t kBinsPerBlock = 4096;
  if (!limits.has_clusters || shape.weight_words > 0) return std::nullopt;
  const uint64_t blocks = std::bit_ceil(
      std::clamp<uint64_t>(CeilDivide(shape.bin_count, kBinsPerBlock), 1, kClusterBlocksMax));
  const uint64_t bins = CeilDivide(shape.bin_count, blocks);
  const uint64_t bytes = HistogramPartBytes(bins * sizeof(uint32_t));
  if (bytes > limits.shared_bytes_max) return std::nullopt;
  return HistogramStrategy{.method = HistogramMethod::kDistributed,
                           .cluster_blocks = static_cast<uint32_t>(blocks),
                           .bins_per_block = static_cast<uint32_t>(bins),
                           .shared_bytes = static_cast<uint32_t>(bytes)};
}

// Whether so few samples are counted where the answer stands in less time than private counters
// take to be cleared and added up: as long as no counter can be that of so many samples that they
// wait for each other. Microseconds on an H200 (shape_benchmark.py --strategies), by one cluster
// and here: 2,032 samples in 111 bins 15.6 and 11.0, 4,370 in 11,449 27 and 19, 42,346 in 30,276 32
// and 21; by shared counters and here 129,089 in 5,593 28 and 19, 501,374 in 4,356 34 and 27,
// weights of 32,334 integers in 9 bins 32 and 23.
bool AreCountedInPlace(const HistogramShape& shape) {
  constexpr uint64_t kFewSamples = uint64_t{1} << 12;
  constexpr uint64_t kFewBins = 32;
  constexpr uint64_t kManyBins = 512;
  constexpr uint32_t kIntegerWords = 3;
  constexpr uint64_t kAxes = 2;  // Channels were not measured.
  if (shape.needs_range || shape.value_count > 0 || shape.bins_count > kAxes) return false;
  if (shape.weight_words > 0) {
    return shape.sample_count <=
           (shape.weight_words <= kIntegerWords ? kInPlaceSamplesMax : kInPlaceSamplesMax / 4);
  }
  return shape.sample_count <= kFewSamples ||
         (shape.sample_count <= kInPlaceSamplesMax && shape.bin_count >= kFewBins) ||
         (shape.sample_count <= kInPlaceOfManyBinsMax && shape.bin_count >= kManyBins);
}

// The method for so few samples that further launches would take longer than they do.
std::optional<HistogramMethod> TogetherMethod(const HistogramShape& shape) {
  if (shape.needs_range) {
    if (shape.sample_count > kGridRangeSamplesMax) return std::nullopt;
    return shape.sample_count <= kClusterRangeSamplesMax ? HistogramMethod::kOneCluster
                                                         : HistogramMethod::kOneGrid;
  }
  if (shape.sample_count > kClusterSamplesMax) return std::nullopt;
  return HistogramMethod::kOneCluster;
}

HistogramStrategy Global(HistogramShape shape, const HistogramLimits& limits) {
  shape.has_cells = false;
  return WithTables({.method = HistogramMethod::kGlobal}, RoomForTables(shape, 0, limits));
}

std::optional<HistogramStrategy> Make(HistogramMethod method, const HistogramShape& shape,
                                      const HistogramLimits& limits) {
  switch (method) {
    case HistogramMethod::kValues: return Values(shape, limits);
    case HistogramMethod::kShared: return Shared(shape, limits);
    case HistogramMethod::kParts: return Parts(shape, limits);
    case HistogramMethod::kCluster: return Cluster(shape, limits);
    case HistogramMethod::kPartitions: return Partitions(shape, limits);
    case HistogramMethod::kOneCluster:
    case HistogramMethod::kOneGrid: return Together(method, shape, limits);
    case HistogramMethod::kDistributed: return Distributed(shape, limits);
    case HistogramMethod::kGlobal: break;
  }
  return Global(shape, limits);
}

}  // namespace

const char* HistogramMethodName(HistogramMethod method) {
  switch (method) {
    case HistogramMethod::kValues: return "histogram/values";
    case HistogramMethod::kShared: return "histogram/shared";
    case HistogramMethod::kParts: return "histogram/parts";
    case HistogramMethod::kCluster: return "histogram/cluster";
    case HistogramMethod::kPartitions: return "histogram/partitions";
    case HistogramMethod::kOneCluster: return "histogram/one-cluster";
    case HistogramMethod::kOneGrid: return "histogram/one-grid";
    case HistogramMethod::kDistributed: return "histogram/distributed";
    case HistogramMethod::kGlobal: break;
  }
  return "histogram/global";
}

std::optional<HistogramMethod> FindHistogramMethod(absl::string_view name) {
  for (const HistogramMethod method : kHistogramMethods) {
    if (name == HistogramMethodName(method)) return method;
  }
  return std::nullopt;
}

absl::StatusOr<HistogramStrategy> ChooseHistogramStrategy(const HistogramShape& shape,
                                                          const HistogramLimits& limits,
                                                          std::optional<HistogramMethod> forced) {
  if (forced.has_value()) {
    if (std::optional<HistogramStrategy> strategy = Make(*forced, shape, limits)) return *strategy;
    return absl::FailedPreconditionError(
        absl::StrCat(HistogramMethodName(*forced), " cannot hold ", shape.bin_count, " bins here"));
  }
  if (AreCountedInPlace(shape)) return Global(shape, limits);
  if (const std::optional<HistogramMethod> together = TogetherMethod(shape)) {
    if (std::optional<HistogramStrategy> strategy = Make(*together, shape, limits)) {
      return *strategy;
    }
  }
  // Private counters are cleared and added up for every block, which fewer samples than counters,
  // or words of them, do not pay for.
  const uint64_t samples_per_word = shape.sample_count / std::max<uint32_t>(shape.weight_words, 1);
  const uint64_t counters =
      shape.value_count > 0 ? std::min(shape.value_count, shape.bin_count) : shape.bin_count;
  if (samples_per_word >= counters) {
    for (const HistogramMethod method : {HistogramMethod::kValues, HistogramMethod::kShared,
                                         HistogramMethod::kPartitions, HistogramMethod::kParts}) {
      if (method == HistogramMethod::kPartitions && !PartitionsPay(shape, limits)) continue;
      std::optional<HistogramStrategy> strategy = Make(method, shape, limits);
      if (!strategy.has_value()) continue;
      // Tables that a block has no room for are better dealt out.
      const bool has_room =
          !shape.has_cells || method != HistogramMethod::kShared || HasEnoughCells(*strategy);
      if (has_room) return *strategy;
    }
  }
  return Global(shape, limits);
}

}  // namespace gridfold::kernels::cuda
