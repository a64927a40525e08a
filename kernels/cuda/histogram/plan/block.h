// Blocks that count samples, as strategies (strategy.h) and kernels know them: threads,
// shared memory, and what it is divided into. Plain C++, and all that device code needs of
// strategies.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_BLOCK_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_BLOCK_H_

#include <cstdint>

#include "kernels/numerics/sums/weight_window.h"

namespace gridfold::kernels::cuda {

// Shared memory of a block is laid out as counters, then tables of edges, then notes of cells; each
// part starts at a multiple of this.
inline constexpr uint32_t kHistogramPartAlignment = 16;
// A block's counters for samples in none of its bins: before these, behind them, and of NaN.
inline constexpr uint32_t kHistogramOutsideCounters = 3;
// Sums of weights in windows beside those of bins: one for each lane that has nothing to add, and
// one that keeps the words of a sum in different banks.
inline constexpr uint32_t kWindowSpareSums = 33;
// Sums of weights in windows that have fewer words than they might.
inline constexpr uint32_t kWeightEscapes = 32;
inline constexpr uint32_t kWeightEscapesSpare = 1;  // Keeps the words of one in different banks.
inline constexpr uint32_t kWeightEscapeWords =
    kWeightEscapes + (kWeightEscapes + kWeightEscapesSpare) * kWindowWordsMax;
// Samples of a warp whose weights are outside of windows, kept to be counted together.
inline constexpr uint32_t kWeightQueueEntriesMax = 32;
constexpr uint32_t WeightQueueEntryWords(uint32_t weight_bytes) {
  return 1 + (weight_bytes + 3) / 4;  // With a sample of 4 bytes.
}
constexpr uint64_t HistogramPartBytes(uint64_t size_bytes) {
  return (size_bytes + kHistogramPartAlignment - 1) / kHistogramPartAlignment *
         kHistogramPartAlignment;
}

// Threads of a block. It fills the shared memory of its multiprocessor.
inline constexpr uint32_t kHistogramThreads = 1024;
inline constexpr uint32_t kHistogramWarps = kHistogramThreads / 32;

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
// The least bins of which weights may be summed by partitions.
inline constexpr uint64_t kWeightPartitionedBinsMin = 8'192;
constexpr bool AreForWeightPartitions(uint64_t bin_count) {
  return bin_count >= kWeightPartitionedBinsMin;
}
// Dynamic shared memory of a block that counts partitions: their bins, and one that is never read.
inline constexpr uint32_t kPartitionCountersBytes =
    static_cast<uint32_t>(HistogramPartBytes((kPartitionBins + 1) * sizeof(uint32_t)));

// Shared memory that blocks have for themselves, beside what strategies deal out.
inline constexpr uint32_t kHistogramOwnBytes = 160;
// Blocks with cells have a word for each warp as well, for what their warps add up.
inline constexpr uint32_t kHistogramCellsOwnBytes =
    kHistogramOwnBytes + kHistogramWarps * uint32_t{sizeof(uint32_t)};

// Blocks of histogram/plan/together.h have bins and extremes as well.
inline constexpr uint32_t kTogetherOwnBytes = 3 * 1024;
inline constexpr uint32_t kHistogramTogetherBinsMax = 4;  // Channels, or axes.

// Values of a sample of 8 bits, and the most channels that can be counted by value: their places in
// a word of four samples do not change from word to word.
inline constexpr uint32_t kByteValues = 256;
constexpr bool CanCountByValue(uint64_t element_bytes, uint32_t channel_count) {
  return element_bytes == 1 && (channel_count == 1 || channel_count == 2 || channel_count == 4);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_BLOCK_H_
