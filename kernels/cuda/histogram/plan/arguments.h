// HistogramArguments is what histogram kernels are given. Plain data, passed to them by value.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_ARGUMENTS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_ARGUMENTS_H_

#include <cstdint>

#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/numerics/bins/cells.h"
#include "kernels/numerics/bins/guess.h"
#include "kernels/numerics/bins/layout.h"
#include "kernels/types/element_type.h"
#include "kernels/types/host_device.h"
#include "kernels/types/policies.h"

namespace gridfold::kernels::cuda {

// The bins of a channel, or of an axis of a two-dimensional histogram.
struct ChannelBins {
  BinLayout layout;
  uint64_t first_bin = 0;  // Where the channel's counters start.
};

// The bins of so many channels are passed with the other arguments.
inline constexpr uint32_t kFewChannels = 4;

// How the bins of a channel, or of an axis, are guessed.
struct ChannelGuess {
  BinGuesser guesser;
  uint32_t first_bin = 0;  // Where the channel's counters start.
  uint32_t channel = 0;
};

// Counters of a channel for samples outside its bins.
inline constexpr int kOutcomeCount = 3;  // Underflow, overflow, NaN.

// How the exact sum of a bin's weights stands in memory, in words of 64 bits. See
// weight_kernels.h.
struct WeightLayout {
  uint32_t digits = 0;
  uint32_t words = 0;  // The digits and, of floating-point weights, a word of flags.
};

// Samples of a chunk on their way to the counters of partitions: see
// histogram/partitions/partitions.h.
struct PartitionQueue {
  uint16_t* ids = nullptr;        // [tile][entry]: bins, low 16 bits.
  uint16_t* firsts = nullptr;     // [partition, and behind the last][tile]: its first entry.
  uint32_t* weights = nullptr;    // [partition][slice]: entries of slice_tiles tiles.
  void* entry_weights = nullptr;  // [tile][entry]: of weighted samples.
  uint32_t partition_count = 0;
  uint32_t partition_bits = kPartitionBits;  // Of weighted samples; others have kPartitionBits.
  uint32_t tile_samples = 0;
  uint32_t tile_capacity = 0;  // Tiles that there is room for.
  uint32_t tile_count = 0;
  uint32_t slice_tiles = 1;
  uint64_t first_tile = 0;  // Of the chunk, among all tiles.
};

struct HistogramArguments {
  const void* samples = nullptr;
  const void* y_samples = nullptr;  // Two dimensions only.
  const void* weights = nullptr;    // With weights only.
  ElementType weight_type = ElementType::kFloat64;
  OutOfRangePolicy out_of_range_policy = OutOfRangePolicy::kDrop;
  uint32_t channel_count = 1;
  uint64_t sample_count = 0;

  // One for each channel; x and y in two dimensions. Where `channels` is null: `few_channels`.
  const ChannelBins* channels = nullptr;
  ChannelBins few_channels[kFewChannels];
  // Kernels that guess even bins only: of the one channel, of both axes, or of the channels from
  // that of the first whole vector on, over and over.
  ChannelGuess guesses[kFewChannels];
  // Kernels with cells only: of the bins of each part, the one that samples are compared as.
  BinCells<float> float_cells[kHistogramPartsMax];
  BinCells<double> double_cells[kHistogramPartsMax];
  double last_edge_for_cells = 0;  // What LastEdgeForCells makes of it.
  const double* edges = nullptr;   // All tables, one after the other.
  uint64_t edge_count = 0;
  bool edges_in_shared = false;

  uint64_t bin_count = 0;        // Of all channels together.
  uint64_t* counters = nullptr;  // One for each bin; with weights, the sums of this pass.
  uint64_t* outcomes = nullptr;  // [channel][kOutcomeCount]; with weights, null in later passes.

  // With weights: the bins [first_bin, first_bin + pass_bin_count) are summed now.
  WeightLayout weight_layout;
  uint64_t first_bin = 0;
  uint64_t pass_bin_count = 0;
  uint32_t flags_kept = 0;  // The kSaw... flags of weights (exact_sum.h) that are needed.

  uint32_t copies = 1;           // Of each counter in shared memory; a power of two.
  uint32_t bins_per_block = 0;   // Counters in a block's shared memory, without copies.
  uint32_t part_count = 1;       // Blocks, one after the other, that share the bins and samples.
  uint32_t window_words = 0;     // Of a sum of weights in a window.
  uint32_t escape_words = 0;     // First in shared memory: see WeightEscapes.
  uint32_t ring_stages = 0;      // Kernels in clusters only: of the MulticastRing.
  uint32_t queue_entries = 0;    // Of warps, behind the escapes in shared memory: see WeightQueue.
  PartitionQueue queue;          // Kernels for partitions only.
  uint64_t steps_per_flush = 0;  // Samples of a thread before private counters are added up.

  // Turns of a block before its counters are added up, of warps that take so many samples in a
  // turn.
  GRIDFOLD_HD uint64_t TurnsPerFlush(uint32_t turn_samples) const {
    const uint64_t turns = steps_per_flush * kHistogramThreads / turn_samples;
    return turns > 0 ? turns : 1;
  }
};

using HistogramKernel = void (*)(HistogramArguments);

// The kernels for an element type; one file each. The first is for any bins; the next four are for
// bins that are guessed, of one channel, of several, and of two axes, and for one channel of bins
// with BinCells (null where the type has none); all of them count in the shared memory of one block
// or, in parts, of several.
HistogramKernel FindSharedHistogramKernel(ElementType type);
HistogramKernel FindEvenHistogramKernel(ElementType type);
HistogramKernel FindChannelsHistogramKernel(ElementType type);
HistogramKernel FindPlaneHistogramKernel(ElementType type);
HistogramKernel FindCellsHistogramKernel(ElementType type);
HistogramKernel FindClusterHistogramKernel(ElementType type);  // Guessed bins, one channel.
HistogramKernel FindValuesHistogramKernel(ElementType type);   // Types of 8 bits only.
HistogramKernel FindGlobalHistogramKernel(ElementType type);
HistogramKernel FindSharedWeightsKernel(ElementType type);
HistogramKernel FindGlobalWeightsKernel(ElementType type);
// Samples of types of 4 bytes, and weights of float32, float64 or integers of 4 bytes at most; null
// for others.
HistogramKernel FindWindowWeightsKernel(ElementType type, ElementType weight_type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_ARGUMENTS_H_
