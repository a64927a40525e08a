// A block splits the samples of tiles by partitions of their bins: see partitions.h.
//
// Example, a tile of samples in bins 3, 70000, 5, 40000, partitions of 2^15 bins:
//
//   partitions 0, 2, 0, 1       ordered: 3, 5 | 40000 - 2^15 | 70000 - 2^16
//   the tile's table says that partitions begin at 0, 2 and 3
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_TILE_SPLITTER_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_TILE_SPLITTER_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/block_sum.cuh"
#include "kernels/cuda/histogram/place/locators.cuh"
#include "kernels/cuda/histogram/place/outcomes.cuh"
#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/partition_kernels.h"

namespace gridfold::kernels::cuda {

// A sample of a tile: its bin, or the first behind all partitions, and its number among those of
// its partition that the same lanes of all warps have.
inline constexpr uint32_t kBinBits = kPartitionBits + kPartitionsMaxLog2 + 1;

// The bins of all samples, in partitions of kPartitionBins.
class AllBins {
 public:
  __device__ explicit AllBins(const HistogramArguments&) {}
  __device__ static constexpr uint32_t partition_bits() { return kPartitionBits; }
  __device__ static uint32_t NumberOf(uint32_t bin) { return bin; }
  __device__ static constexpr bool Has(uint32_t) { return true; }
};

// Splits tiles of so many vectors of each thread, of all arrays together. Bins are an AllBins, or
// like one: of those that it has, a partition has 2^partition_bits() by their numbers.
template <class T, class Locator, class Bins = AllBins, uint32_t kVectors = kTileVectors>
class TileSplitter {
 public:
  static constexpr uint32_t kRows = kVectors / Locator::kArrays;
  static constexpr uint32_t kThreadSamples = kRows * kVectorSamples<T>;
  static constexpr uint32_t kSamples = kThreadSamples * kHistogramThreads;
  static_assert(kThreadSamples * kBlockWarps <= uint32_t{1} << (32 - kBinBits));

  __device__ TileSplitter(const HistogramArguments& arguments, uint32_t* columns, uint4* entries,
                          uint32_t* warp_sums, SharedOutcomes& outcomes)
      : arguments_(arguments),
        locator_(arguments),
        bins_(arguments),
        columns_(columns),
        entries_(entries),
        warp_sums_(warp_sums),
        outcomes_(outcomes) {}

  __device__ void ClearColumns() {
    for (uint32_t i = threadIdx.x; i < column_count() + kWarpLanes; i += kHistogramThreads) {
      columns_[i] = 0;
    }
  }

  __device__ void Load(uint32_t tile) {
    const uint64_t first = FirstSample(tile) + uint64_t{threadIdx.x} * kVectorSamples<T>;
    const T* const x = static_cast<const T*>(arguments_.samples) + first;
    const T* const y = static_cast<const T*>(arguments_.y_samples) + first;
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) {
      constexpr uint32_t kRowSamples = kHistogramThreads * kVectorSamples<T>;
      rows_[k].of[0] = *reinterpret_cast<const uint4*>(x + k * kRowSamples);
      if (Locator::kArrays == 2) {
        rows_[k].of[Locator::kArrays - 1] = *reinterpret_cast<const uint4*>(y + k * kRowSamples);
      }
    }
  }

  // Counts the loaded samples in their columns, and calls count_at_once(sample) for those that no
  // guess is sure of.
  template <class CountAtOnce>
  __device__ void Rank(uint32_t tile, CountAtOnce&& count_at_once) {
    const uint32_t lane = threadIdx.x % kWarpLanes;
    uint32_t unsure = 0;
#pragma unroll
    for (uint32_t i = 0; i < kThreadSamples; ++i) {
      const auto guess =
          locator_.Guess(PointOf<T>(rows_[i / kVectorSamples<T>], i % kVectorSamples<T>));
      // The others have columns of their own behind those of the partitions: less work than
      // branches, which would wait for one rank after the other.
      const bool is_sure = locator_.IsSure(guess);
      const uint32_t number = bins_.NumberOf(guess.bin);
      const bool is_queued = is_sure & bins_.Has(number);
      const uint32_t bin =
          is_queued ? number : arguments_.queue.partition_count << partition_bits();
      const uint32_t rank = atomicAdd(&columns_[(bin >> partition_bits()) * kWarpLanes + lane], 1);
      ranked_[i] = rank << kBinBits | bin;
      unsure |= is_sure ? 0 : uint32_t{1} << i;
    }
#pragma unroll 1
    for (; unsure != 0; unsure &= unsure - 1) {
      const uint32_t i = static_cast<uint32_t>(__ffs(static_cast<int>(unsure))) - 1;
      count_at_once(FirstSample(tile) +
                    (i / kVectorSamples<T> * uint64_t{kHistogramThreads} + threadIdx.x) *
                        kVectorSamples<T> +
                    i % kVectorSamples<T>);
    }
  }

  // Makes of the columns' counts where each column begins, and notes where partitions begin. All
  // threads have ranked.
  __device__ void OrderColumns(uint32_t tile) {
    const uint32_t first = threadIdx.x * 4;
    uint4* const own = reinterpret_cast<uint4*>(columns_ + first);
    const bool has_columns = first < column_count();
    const uint4 counts = has_columns ? *own : uint4{0, 0, 0, 0};
    const BlockSums sums = BlockSums::Of(counts.x + counts.y + counts.z + counts.w, warp_sums_);
    uint4 begins;
    begins.x = sums.before;
    begins.y = begins.x + counts.x;
    begins.z = begins.y + counts.y;
    begins.w = begins.z + counts.z;
    if (has_columns) *own = begins;
    // What is in no partition goes behind the tile's entries, for nothing.
    if (threadIdx.x < kWarpLanes) columns_[column_count() + threadIdx.x] = kSamples;
    entry_count_ = sums.total;
    __syncthreads();
    NotePartitions(tile);
  }

  // The place of entry i of an ordered tile, of entries of so many bytes. Columns of equal lengths
  // would begin in the same bank.
  template <uint32_t kEntryBytes>
  __device__ static uint32_t PlaceOfEntry(uint32_t i) {
    return i ^ ((i / (kSamples / kWarpLanes) & 7) * (kVectorBytes / kEntryBytes));
  }

  // Orders the samples' bins, and calls visit(i, entry) for each of the thread's: which entry of
  // the tile it is. What is in no partition has entries behind all others.
  template <class Visit>
  __device__ void Order(Visit&& visit) {
    const uint32_t lane = threadIdx.x % kWarpLanes;
    auto* const ids = reinterpret_cast<uint16_t*>(entries_);
#pragma unroll
    for (uint32_t i = 0; i < kThreadSamples; ++i) {
      const uint32_t bin = ranked_[i] & ((uint32_t{1} << kBinBits) - 1);
      const uint32_t column = (bin >> partition_bits()) * kWarpLanes + lane;
      const uint32_t entry = columns_[column] + (ranked_[i] >> kBinBits);
      ids[PlaceOfEntry<sizeof(uint16_t)>(entry)] = static_cast<uint16_t>(bin);
      visit(i, entry);
    }
  }
  __device__ void Order() {
    Order([](uint32_t, uint32_t) {});
  }

  // Writes the tile's entries of so many bytes from where they are ordered to where those of all
  // tiles are. All have ordered.
  template <uint32_t kEntryBytes>
  __device__ void Write(uint32_t tile, const uint4* entries, void* all) const {
    constexpr uint32_t kVectorEntries = kVectorBytes / kEntryBytes;
    auto* const to = static_cast<uint4*>(all) + uint64_t{tile} * (kSamples / kVectorEntries);
    const uint32_t count = (entry_count_ + kVectorEntries - 1) / kVectorEntries;
    for (uint32_t v = threadIdx.x; v < count; v += kHistogramThreads) {
      to[v] = entries[PlaceOfEntry<kEntryBytes>(v * kVectorEntries) / kVectorEntries];
    }
  }
  __device__ void Write(uint32_t tile) const {
    Write<sizeof(uint16_t)>(tile, entries_, arguments_.queue.ids);
  }

  // The place where a sample counts that does not go through the queue; its outcome is counted.
  __device__ Placement PlaceAtOnce(uint64_t sample) {
    const SamplePoint<T> point = PointAt<T, Locator::kArrays>(arguments_, sample);
    const Placement placement = locator_.Resolve(locator_.Guess(point), point);
    if (placement.outcome != 0) outcomes_.Count(0, placement.outcome);
    return placement;
  }

  // The first sample of a tile.
  __device__ uint64_t FirstSample(uint32_t tile) const {
    return SamplesBeforeVectors<T>(arguments_.samples) +
           (arguments_.queue.first_tile + tile) * kSamples;
  }

 private:
  __device__ uint32_t partition_bits() const { return bins_.partition_bits(); }
  __device__ uint32_t column_count() const { return arguments_.queue.partition_count * kWarpLanes; }

  __device__ void NotePartitions(uint32_t tile) const {
    const PartitionQueue& queue = arguments_.queue;
    const uint32_t p = threadIdx.x;
    if (p > queue.partition_count) return;
    const uint32_t begin = p < queue.partition_count ? columns_[p * kWarpLanes] : entry_count_;
    queue.firsts[uint64_t{p} * queue.tile_capacity + tile] = static_cast<uint16_t>(begin);
    if (p == queue.partition_count) return;
    const uint32_t end =
        p + 1 < queue.partition_count ? columns_[(p + 1) * kWarpLanes] : entry_count_;
    if (end != begin) {
      atomicAdd(&queue.weights[p * kQueueSlices + tile / queue.slice_tiles], end - begin);
    }
  }

  const HistogramArguments& arguments_;
  const Locator locator_;
  const Bins bins_;
  uint32_t* const columns_;  // [partition, and of no partition][lane]
  uint4* const entries_;
  uint32_t* const warp_sums_;
  SharedOutcomes& outcomes_;
  VectorRow<Locator::kArrays> rows_[kRows];
  uint32_t ranked_[kThreadSamples];
  uint32_t entry_count_ = 0;
};

// Calls visit(sample) for all samples before and behind the tiles of all chunks. All threads of a
// block.
template <class T, uint32_t kTileSamples, class Visit>
__device__ inline void VisitBesideTiles(const HistogramArguments& arguments, Visit&& visit) {
  const uint64_t count = arguments.sample_count;
  const uint64_t head = min(uint64_t{SamplesBeforeVectors<T>(arguments.samples)}, count);
  const uint64_t tail = head + (count - head) / kTileSamples * kTileSamples;
  const uint64_t rest = head + (count - tail);
#pragma unroll 1
  for (uint64_t i = threadIdx.x; i < rest; i += kHistogramThreads) {
    visit(i < head ? i : tail + (i - head));
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_TILE_SPLITTER_CUH_
