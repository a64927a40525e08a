// How the counters of a histogram are kept while samples are counted: a pure function of the bins
// and of what the device offers. Plain C++; needs no device.
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
//
// With weights a counter is an exact sum, of several words; in a window (numerics/weight_window.h)
// of fewer.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_STRATEGY_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_STRATEGY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "kernels/numerics/weight_window.h"

namespace gridfold::kernels::cuda {

enum class HistogramMethod : uint8_t { kValues, kShared, kParts, kCluster, kPartitions, kGlobal };
inline constexpr HistogramMethod kHistogramMethods[] = {
    HistogramMethod::kValues,  HistogramMethod::kShared,     HistogramMethod::kParts,
    HistogramMethod::kCluster, HistogramMethod::kPartitions, HistogramMethod::kGlobal};

// "histogram/values", "histogram/shared" and so on.
const char* HistogramMethodName(HistogramMethod method);

// Words of a sum of weights in a window; 0 where weights are not summed in windows.
struct WindowWords {
  uint32_t min = 0;
  uint32_t max = 0;
  uint32_t escape_words = 0;  // Of a block, beside the sums: see WeightEscapes.
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
  WindowWords window_words = {};  // Whether weights can be summed in windows, and in which.
  bool is_guessed = false;        // Whether all bins are those of one channel with a BinGuesser.
};
struct HistogramLimits {
  uint32_t shared_bytes_max = 48 * 1024;  // Of a block.
  bool has_clusters = false;
};

struct HistogramStrategy {
  HistogramMethod method = HistogramMethod::kGlobal;
  // kParts, kCluster: blocks that read the same samples. kPartitions: of bins.
  uint32_t part_count = 1;
  uint32_t copies = 1;  // kValues, kShared: of each counter; a power of two.
  // kShared: all bins. kParts, kCluster: those of one block. kValues: values.
  uint32_t bins_per_block = 0;
  uint32_t ring_stages = 0;      // kCluster: of the MulticastRing before the counters.
  bool edges_in_shared = false;  // Whether tables of edges are copied to shared memory.
  uint32_t window_words = 0;     // kShared, kParts with weights: words of a sum in a window.
  uint32_t escape_words = 0;     // Before these sums.
  uint32_t cell_count = 0;       // Cells by which bins are found; 0 where they are not.
  uint32_t shared_bytes = 0;     // Dynamic shared memory of a block.
};

// Shared memory of a block is laid out as counters, then tables of edges, then notes of cells; each
// part starts at a multiple of this.
inline constexpr uint32_t kHistogramPartAlignment = 16;
// A block's counters for samples in none of its bins: before these, and behind them.
inline constexpr uint32_t kHistogramOutsideCounters = 2;
// Sums of weights in windows beside those of bins: one for each lane that has nothing to add, and
// one that keeps the words of a sum in different banks.
inline constexpr uint32_t kWindowSpareSums = 33;
// Sums of weights in windows that have fewer words than they might.
inline constexpr uint32_t kWeightEscapes = 32;
inline constexpr uint32_t kWeightEscapeWords =
    kWeightEscapes + (kWeightEscapes + kWindowSpareSums) * kWindowWordsMax;
constexpr uint64_t HistogramPartBytes(uint64_t size_bytes) {
  return (size_bytes + kHistogramPartAlignment - 1) / kHistogramPartAlignment *
         kHistogramPartAlignment;
}

// Threads of a block. It fills the shared memory of its multiprocessor.
inline constexpr uint32_t kHistogramThreads = 1024;

// Parts are no more than these.
inline constexpr uint32_t kHistogramPartsMax = 16;

// Bins of a partition, and how many partitions there may be.
inline constexpr uint32_t kPartitionBits = 15;
inline constexpr uint32_t kPartitionBins = uint32_t{1} << kPartitionBits;
inline constexpr uint32_t kPartitionsMaxLog2 = 7;
inline constexpr uint32_t kPartitionsMax = uint32_t{1} << kPartitionsMaxLog2;
// Slices of a queue, for each partition of which entries are counted.
inline constexpr uint32_t kQueueSlices = 64;
// Up to so many bins parts are at least as fast.
inline constexpr uint64_t kPartitionedBinsMin = 262'144;
constexpr bool IsForPartitions(uint64_t bin_count) {
  return bin_count > kPartitionedBinsMin && bin_count <= uint64_t{kPartitionsMax} * kPartitionBins;
}
// Dynamic shared memory of a block that counts partitions: their bins, and one that is never read.
inline constexpr uint32_t kPartitionCountersBytes =
    static_cast<uint32_t>(HistogramPartBytes((kPartitionBins + 1) * sizeof(uint32_t)));

// Shared memory that blocks have for themselves, beside what strategies deal out.
inline constexpr uint32_t kHistogramOwnBytes = 64;

// Values of a sample of 8 bits, and the most channels that can be counted by value: their places in
// a word of four samples are always the same.
inline constexpr uint32_t kByteValues = 256;
constexpr bool CanCountByValue(uint64_t element_bytes, uint32_t channel_count) {
  return element_bytes == 1 && (channel_count == 1 || channel_count == 2 || channel_count == 4);
}

// The strategy for `shape`, or with the `forced` method, for tests and benchmarks. Errors:
// FAILED_PRECONDITION where a forced method cannot be had; never otherwise.
absl::StatusOr<HistogramStrategy> ChooseHistogramStrategy(
    const HistogramShape& shape, const HistogramLimits& limits,
    std::optional<HistogramMethod> forced = std::nullopt);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_STRATEGY_H_
