// A strategy says how the counters of a histogram are kept while samples are counted. Choosing it
// is a pure function of the bins and of what the device offers. Plain C++; needs no device.
//
//   values   samples of 8 bits: every block counts how often it meets each value, whatever the bins
//            are; bins get the counts of their values at the end
//   shared   every block counts all bins in its own shared memory, in several copies where bins are
//            few, so that samples which all fall into one bin do not wait for each other
//   parts    the bins are dealt out over the shared memory of several blocks, which read the same
//            samples at about the same time, so that device memory is read once for all of them
//   cluster  the same, of the blocks of a cluster, which bring the samples to each other
//   partitions
//            samples are first split by partitions of the bins, which are then counted in shared
//            memory one after the other
//   global   counters in device memory, which a warp adds to once for all its samples of one bin
//   one-cluster, one-grid
//            few samples, in a single launch whose blocks meet (histogram/plan/together.h): as
//            shared, but that the blocks find an automatic range themselves, and of one cluster
//            also join what they have counted
//   distributed
//            the textbook's use of distributed shared memory: the bins are dealt out over the
//            blocks of a cluster, of which each adds its samples to the others' counters by remote
//            atomics. Never thought best: on an H100 65,536 samples take 14 to 20 us, where
//            one-cluster takes 12.6. To be chosen by name, for comparing and for learning
//
// With weights a counter is an exact sum, of several words; in a window
// (numerics/sums/weight_window.h) of fewer.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_STRATEGY_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_STRATEGY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/numerics/sums/weight_window.h"

namespace gridfold::kernels::cuda {

enum class HistogramMethod : uint8_t {
  kValues,
  kShared,
  kParts,
  kCluster,
  kPartitions,
  kGlobal,
  kOneCluster,
  kOneGrid,
  kDistributed,
};
inline constexpr HistogramMethod kHistogramMethods[] = {
    HistogramMethod::kValues,     HistogramMethod::kShared,     HistogramMethod::kParts,
    HistogramMethod::kCluster,    HistogramMethod::kPartitions, HistogramMethod::kGlobal,
    HistogramMethod::kOneCluster, HistogramMethod::kOneGrid,    HistogramMethod::kDistributed};

// Whether the method is one of histogram/plan/together.h.
constexpr bool IsTogether(HistogramMethod method) {
  return method == HistogramMethod::kOneCluster || method == HistogramMethod::kOneGrid;
}

// "histogram/values", "histogram/shared" and so on.
const char* HistogramMethodName(HistogramMethod method);
// The method of that name; nothing where there is none.
std::optional<HistogramMethod> FindHistogramMethod(absl::string_view name);

// Words of a sum of weights in a window; 0 where weights are not summed in windows.
struct WindowWords {
  uint32_t min = 0;
  uint32_t max = 0;
  uint32_t escape_words = 0;       // Of a block, beside the sums: see WeightEscapes.
  uint32_t queue_entry_words = 0;  // See WeightQueue.
};

// What the choice depends on.
struct HistogramShape {
  uint64_t sample_count = 0;
  uint64_t bin_count = 0;   // Of all channels together.
  uint64_t edge_count = 0;  // Of all tables of edges together.
  bool can_split = false;   // Whether there are kernels for partitions of the bins.
  // Whether the bins of the one table can be found by cells, and how many bytes an edge takes then.
  bool has_cells = false;
  uint32_t cell_edge_bytes = sizeof(double);
  uint64_t value_count = 0;   // Of all channels together, where samples can be counted by value.
  uint32_t weight_words = 0;  // Of 64 bits, for the sum of a bin's weights; 0 without weights.
  uint32_t weight_bytes = 0;  // Of a weight.
  WindowWords window_words = {};  // Whether weights can be summed in windows, and in which.
  bool is_guessed = false;        // Whether all bins are those of one channel with a BinGuesser.
  uint64_t bins_count = 1;        // Channels, or axes.
  bool needs_range = false;       // Whether a range is still to be found.
};
struct HistogramLimits {
  uint32_t shared_bytes_max = 48 * 1024;  // Of a block.
  bool has_clusters = false;
};

struct HistogramStrategy {
  HistogramMethod method = HistogramMethod::kGlobal;
  // kParts, kCluster: blocks that read the same samples. kPartitions: of bins.
  uint32_t part_count = 1;
  uint32_t cluster_blocks = 1;  // kOneCluster, kDistributed.
  // kValues, kShared, kOneCluster, kOneGrid: of each counter; a power of two.
  uint32_t copies = 1;
  // kShared, kOneCluster, kOneGrid: all bins. kParts, kCluster, kDistributed: those of one block.
  // kPartitions: of a partition. kValues: values.
  uint32_t bins_per_block = 0;
  uint32_t ring_stages = 0;      // kCluster: of the MulticastRing before the counters.
  bool edges_in_shared = false;  // Whether tables of edges are copied to shared memory.
  uint32_t window_words = 0;     // With weights, but for kGlobal: words of a sum in a window.
  uint32_t escape_words = 0;     // Before these sums.
  uint32_t queue_entries = 0;    // Of each warp, between both.
  uint32_t cell_count = 0;       // Cells by which bins are found; 0 where they are not.
  uint32_t shared_bytes = 0;     // Dynamic shared memory of a block.
};

// The strategy for `shape`, or with the `forced` method, for tests and benchmarks. Errors:
// FAILED_PRECONDITION where a forced method cannot be had; never otherwise.
absl::StatusOr<HistogramStrategy> ChooseHistogramStrategy(
    const HistogramShape& shape, const HistogramLimits& limits,
    std::optional<HistogramMethod> forced = std::nullopt);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_STRATEGY_H_
