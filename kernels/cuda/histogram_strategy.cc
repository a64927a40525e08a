#include "kernels/cuda/histogram_strategy.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/cuda/grid.h"

namespace gridfold::kernels::cuda {

namespace {

// Copies of counters take no more than this, so that a multiprocessor holds two blocks.
constexpr uint64_t kCopiesBytesMax = 64 * 1024;
constexpr uint32_t kCopiesMax = 32;  // One for each lane of a warp, each in a bank of its own.

// Bin numbers on their way: two buffers, so that one can be filled while the other is read.
constexpr uint64_t kExchangeBytes =
    uint64_t{2} * kHistogramThreads * kClusterItems * sizeof(uint32_t);

constexpr uint32_t kClusterSizes[] = {2, 4, 8, 16};

uint64_t CounterBytes(const HistogramShape& shape) {
  return shape.weight_words > 0 ? shape.weight_words * sizeof(uint64_t) : sizeof(uint32_t);
}

// Puts tables of edges beside what `strategy` already needs, where there is room.
HistogramStrategy WithEdges(HistogramStrategy strategy, const HistogramShape& shape,
                            const HistogramLimits& limits) {
  const uint64_t edge_bytes = HistogramPartBytes(shape.edge_count * sizeof(double));
  strategy.edges_in_shared =
      shape.edge_count > 0 && edge_bytes <= limits.shared_bytes_max - strategy.shared_bytes;
  if (strategy.edges_in_shared) strategy.shared_bytes += static_cast<uint32_t>(edge_bytes);
  return strategy;
}

std::optional<HistogramStrategy> Shared(const HistogramShape& shape,
                                        const HistogramLimits& limits) {
  const uint64_t bytes_per_copy = shape.bin_count * CounterBytes(shape);
  if (shape.bin_count > limits.shared_bytes_max ||
      HistogramPartBytes(bytes_per_copy) > limits.shared_bytes_max) {
    return std::nullopt;
  }
  const uint64_t copies_bytes_max = std::min<uint64_t>(kCopiesBytesMax, limits.shared_bytes_max);
  HistogramStrategy strategy{.method = HistogramMethod::kShared};
  while (strategy.copies < kCopiesMax &&
         HistogramPartBytes(bytes_per_copy * strategy.copies * 2) <= copies_bytes_max) {
    strategy.copies *= 2;
  }
  strategy.bins_per_block = static_cast<uint32_t>(shape.bin_count);
  strategy.shared_bytes =
      static_cast<uint32_t>(HistogramPartBytes(bytes_per_copy * strategy.copies));
  return WithEdges(strategy, shape, limits);
}

std::optional<HistogramStrategy> Cluster(const HistogramShape& shape,
                                         const HistogramLimits& limits) {
  if (shape.weight_words > 0 || limits.shared_bytes_max <= kExchangeBytes) return std::nullopt;
  const uint64_t bins_max = (limits.shared_bytes_max - kExchangeBytes) / kHistogramPartAlignment *
                            kHistogramPartAlignment / CounterBytes(shape);
  for (const uint32_t size : kClusterSizes) {
    if (size > limits.cluster_size_max) break;
    const uint64_t bins_per_block = CeilDivide(shape.bin_count, size);
    if (bins_per_block > bins_max) continue;
    HistogramStrategy strategy{.method = HistogramMethod::kCluster, .cluster_size = size};
    strategy.bins_per_block = static_cast<uint32_t>(bins_per_block);
    strategy.shared_bytes = static_cast<uint32_t>(
        HistogramPartBytes(bins_per_block * CounterBytes(shape)) + kExchangeBytes);
    return WithEdges(strategy, shape, limits);
  }
  return std::nullopt;
}

HistogramStrategy Global(const HistogramShape& shape, const HistogramLimits& limits) {
  return WithEdges({.method = HistogramMethod::kGlobal}, shape, limits);
}

std::optional<HistogramStrategy> Make(HistogramMethod method, const HistogramShape& shape,
                                      const HistogramLimits& limits) {
  switch (method) {
    case HistogramMethod::kShared: return Shared(shape, limits);
    case HistogramMethod::kCluster: return Cluster(shape, limits);
    case HistogramMethod::kGlobal: break;
  }
  return Global(shape, limits);
}

}  // namespace

const char* HistogramMethodName(HistogramMethod method) {
  switch (method) {
    case HistogramMethod::kShared: return "histogram/shared";
    case HistogramMethod::kCluster: return "histogram/cluster";
    case HistogramMethod::kGlobal: break;
  }
  return "histogram/global";
}

absl::StatusOr<HistogramStrategy> ChooseHistogramStrategy(const HistogramShape& shape,
                                                          const HistogramLimits& limits,
                                                          std::optional<HistogramMethod> forced) {
  if (forced.has_value()) {
    if (std::optional<HistogramStrategy> strategy = Make(*forced, shape, limits)) return *strategy;
    return absl::FailedPreconditionError(
        absl::StrCat(HistogramMethodName(*forced), " cannot hold ", shape.bin_count, " bins here"));
  }
  // Private counters are cleared and added up for every block, which fewer samples than counters,
  // or words of them, do not pay for.
  if (shape.sample_count / std::max<uint32_t>(shape.weight_words, 1) >= shape.bin_count) {
    for (const HistogramMethod method : {HistogramMethod::kShared, HistogramMethod::kCluster}) {
      if (std::optional<HistogramStrategy> strategy = Make(method, shape, limits)) return *strategy;
    }
  }
  return Global(shape, limits);
}

}  // namespace gridfold::kernels::cuda
