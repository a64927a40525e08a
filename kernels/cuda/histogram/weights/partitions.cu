// The second pass of weighted histograms of many bins: see histogram/partitions/partitions.h. The
// sums of a partition are in windows of words in shared memory.
#include <type_traits>

#include "kernels/cuda/histogram/partitions/shares.cuh"
#include "kernels/cuda/histogram/plan/partition_kernels.h"
#include "kernels/cuda/histogram/weights/window_counter.cuh"

namespace gridfold::kernels::cuda {

namespace {

// A locator of samples that are the numbers of their bins.
class QueuedLocator {
 public:
  using Guessed = GuessedCounter;

  __device__ explicit QueuedLocator(const HistogramArguments&) {}
  __device__ static Guessed Guess(const SamplePoint<uint32_t>& point) { return {point.x, true}; }
  __device__ static bool IsSure(const Guessed&) { return true; }
};

// Lanes that take a tile's entries together, if they are few.
constexpr uint32_t kGroupLanes = 16;
constexpr uint32_t kGroups = kWarpLanes / kGroupLanes;
constexpr uint32_t kFewEntries = 256;

// What the queue has of a partition, of which `bins` are the bins.
template <class Weights>
class PartitionEntries {
 public:
  using Counter = WindowCounter<uint32_t, Weights, QueuedLocator>;
  using Row = typename Counter::Row;
  static constexpr uint32_t kRowEntries = kVectorSamples<uint32_t>;  // Of a lane.

  __device__ PartitionEntries(const HistogramArguments& arguments, const BinRange& bins,
                              uint32_t partition, uint32_t end)
      : queue_(arguments.queue), bins_(bins), runs_(arguments.queue, partition, end) {}

  __device__ EntryRun RunOf(uint32_t tile) const { return runs_.Of(tile); }

  // The row of entries from `first` on, with a bin that is none for those that are not of the run.
  __device__ Row RowOf(const EntryRun& run, uint32_t first) const {
    if (first >= run.end) return {VectorRow<1>{uint4{kNoBin, kNoBin, kNoBin, kNoBin}}, {}};
    const uint64_t at = (run.first + first) / kRowEntries;
    const uint2 ids = reinterpret_cast<const uint2*>(queue_.ids)[at];
    const auto bin = [&](uint32_t j, uint32_t id) {
      return first + j - run.begin < run.count() ? BinOf(id) : kNoBin;
    };
    return {
        VectorRow<1>{uint4{bin(0, ids.x), bin(1, ids.x >> 16), bin(2, ids.y), bin(3, ids.y >> 16)}},
        static_cast<const decltype(Row::weights)*>(queue_.entry_weights)[at]};
  }

  // The number in the partition of some entry of the tiles from `begin` on, or one that is none;
  // other threads have others.
  __device__ uint32_t SurveyedSum(uint32_t begin, uint32_t end) const {
    const EntryRun run = RunOf(begin + threadIdx.x * (end - begin) / kHistogramThreads);
    if (run.count() == 0) return kNoBin;
    return BinOf(queue_.ids[run.first + run.begin + threadIdx.x % run.count()]) - bins_.first;
  }

 private:
  static constexpr uint32_t kNoBin = ~uint32_t{0};

  // The bin of an entry, from the low 16 bits of its number in the pass.
  __device__ uint32_t BinOf(uint32_t id) const {
    return bins_.first + (id & ((uint32_t{1} << queue_.partition_bits) - 1));
  }

  const PartitionQueue& queue_;
  const BinRange bins_;
  const PartitionRuns runs_;
};

// Counts the entries of the tiles [begin, end). All threads of the block.
template <class Entries, class Counter>
__device__ void SumTiles(const Entries& entries, uint32_t begin, uint32_t end, Counter& counter) {
  constexpr uint32_t kStride = kBlockWarps * kGroups;
  const uint32_t lane = threadIdx.x % kWarpLanes;
  uint32_t of_warp = begin + threadIdx.x / kWarpLanes;
  uint32_t tile = of_warp + lane / kGroupLanes * kBlockWarps;
  EntryRun run = entries.RunOf(tile);
#pragma unroll 1
  for (; of_warp < end; of_warp += kStride) {
    tile += kStride;
    const EntryRun next = entries.RunOf(tile);
    const bool is_for_warp = __any_sync(~0u, run.count() > kFewEntries);
    const uint32_t lanes = is_for_warp ? kWarpLanes : kGroupLanes;
#pragma unroll 1
    for (uint32_t group = 0; group < (is_for_warp ? kGroups : 1); ++group) {
      const EntryRun own = is_for_warp ? run.OfLane(static_cast<int>(group * kGroupLanes)) : run;
      uint32_t first = (own.begin / Entries::kRowEntries + lane % lanes) * Entries::kRowEntries;
#pragma unroll 1
      for (; __any_sync(~0u, first < own.end); first += lanes * Entries::kRowEntries) {
        counter.Count(entries.RowOf(own, first));
      }
    }
    run = next;
  }
}

template <class Weights>
__global__ void __launch_bounds__(kHistogramThreads)
    SumPartitions(const __grid_constant__ HistogramArguments arguments) {
  using Entries = PartitionEntries<Weights>;
  using Counter = typename Entries::Counter;
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ ShareOfBlock share;
  __shared__ uint32_t largest;
  __shared__ uint32_t most;
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  uint32_t* const memory = reinterpret_cast<uint32_t*>(shared);
  uint32_t* const queue_memory = memory + arguments.escape_words;
  uint32_t* const sums_memory = queue_memory + Counter::Queue::WordsOf(arguments);
  SharedOutcomes outcomes(outcome_counts);
  WeightWords sums(sums_memory, arguments.bins_per_block, kWindowSpareSums, arguments.window_words,
                   arguments.copies);
  Weights weights(arguments, memory, &largest);
  outcomes.Clear();
  ForEachShare(arguments.queue, share, [&](uint32_t p, uint32_t begin, uint32_t end) {
    const uint32_t first = p * arguments.bins_per_block;
    const uint32_t left = static_cast<uint32_t>(arguments.pass_bin_count) - first;
    const BinRange bins{static_cast<uint32_t>(arguments.first_bin) + first,
                        min(arguments.bins_per_block, left), false};
    const Entries entries(arguments, bins, p, end);
    const uint32_t frequent_sum =
        arguments.copies < kSharingCopies
            ? FrequentSumOf(entries.SurveyedSum(begin, end), bins.count, sums_memory, &most)
            : kNoFrequentSum;
    __syncthreads();
    sums.Clear();
    if constexpr (std::is_floating_point_v<typename Weights::Element>) weights.ClearOutside();
    __syncthreads();
    Counter counter(arguments, weights, bins, sums, frequent_sum, {arguments, queue_memory},
                    outcomes);
    SumTiles(entries, begin, end, counter);
    __syncthreads();
    counter.Flush();
    __syncthreads();
  });
}

}  // namespace

HistogramKernel FindSumPartitionsKernel(ElementType weight_type) {
  if (weight_type == ElementType::kFloat32) return SumPartitions<Float32Weights>;
  if (weight_type == ElementType::kFloat64) return SumPartitions<Float64Weights>;
  switch (ElementSize(weight_type)) {
    case 1: return SumPartitions<IntegerWeights<uint8_t>>;
    case 2: return SumPartitions<IntegerWeights<uint16_t>>;
    case 4:
    case 8: return SumPartitions<IntegerWeights<uint32_t>>;
  }
  return nullptr;
}

}  // namespace gridfold::kernels::cuda
