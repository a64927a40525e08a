// How the counters of a histogram are kept while samples are counted: a pure function of the bins
// and of what the device offers. Plain C++; needs no device.
//
//   shared   every block counts all bins in its own shared memory, in several copies where bins are
//            few, so that samples which all fall into one bin do not wait for each other
//   cluster  the bins are dealt out over the shared memory of a thread-block cluster; each block
//            locates its samples and the others read the bin numbers from it
//   global   counters in device memory, which a warp adds to once for all its samples of one bin
//
// With weights a counter is an exact sum, of several words.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_STRATEGY_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_STRATEGY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

namespace gridfold::kernels::cuda {

enum class HistogramMethod : uint8_t { kShared, kCluster, kGlobal };

// "histogram/shared", "histogram/cluster" or "histogram/global".
const char* HistogramMethodName(HistogramMethod method);

// What the choice depends on.
struct HistogramShape {
  uint64_t sample_count = 0;
  uint64_t bin_count = 0;     // Of all channels together.
  uint64_t edge_count = 0;    // Of all tables of edges together.
  uint32_t weight_words = 0;  // Of 64 bits, for the sum of a bin's weights; 0 without weights.
};
struct HistogramLimits {
  uint32_t shared_bytes_max = 48 * 1024;  // Of a block.
  uint32_t cluster_size_max = 1;          // 1 where there are no clusters.
};

struct HistogramStrategy {
  HistogramMethod method = HistogramMethod::kGlobal;
  uint32_t cluster_size = 1;
  uint32_t copies = 1;           // kShared: of each counter; a power of two.
  uint32_t bins_per_block = 0;   // kShared: all bins. kCluster: those of one block.
  bool edges_in_shared = false;  // Whether tables of edges are copied to shared memory.
  uint32_t shared_bytes = 0;     // Dynamic shared memory of a block.
};

// Shared memory of a block is laid out as counters, then tables of edges, then, for clusters, bin
// numbers on their way; each part starts at a multiple of this.
inline constexpr uint32_t kHistogramPartAlignment = 16;
constexpr uint64_t HistogramPartBytes(uint64_t size_bytes) {
  return (size_bytes + kHistogramPartAlignment - 1) / kHistogramPartAlignment *
         kHistogramPartAlignment;
}

// Samples that each thread of a cluster's block locates before bin numbers are exchanged, and the
// threads of such a block.
inline constexpr uint32_t kClusterItems = 4;
inline constexpr uint32_t kHistogramThreads = 1024;

// The strategy for `shape`, or with the `forced` method, for tests and benchmarks. Errors:
// FAILED_PRECONDITION where a forced method cannot be had; never otherwise.
absl::StatusOr<HistogramStrategy> ChooseHistogramStrategy(
    const HistogramShape& shape, const HistogramLimits& limits,
    std::optional<HistogramMethod> forced = std::nullopt);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_STRATEGY_H_
