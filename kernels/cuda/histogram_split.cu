// The first pass of histograms of very many bins: see histogram_partitions.h.
#include "kernels/cuda/histogram_block_sum.cuh"
#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_locators.cuh"
#include "kernels/cuda/histogram_outcomes.cuh"
#include "kernels/cuda/histogram_partition_kernels.h"
#include "kernels/cuda/histogram_turns.cuh"

namespace gridfold::kernels::cuda {

namespace {

// A sample of a tile: its bin, or the first behind all partitions, and its number among those of
// its partition that the same lanes of all warps have.
constexpr uint32_t kBinBits = kPartitionBits + kPartitionsMaxLog2 + 1;

// Where entry i of an ordered tile stands. Columns of equal lengths would begin in the same bank.
__device__ uint32_t PlaceOfEntry(uint32_t i) { return i ^ ((i >> 9 & 7) << 3); }

template <class T, class Locator>
class TileSplitter {
 public:
  static constexpr uint32_t kRows = kTileVectors / Locator::kArrays;
  static constexpr uint32_t kThreadSamples = kRows * kVectorSamples<T>;
  static constexpr uint32_t kSamples = kThreadSamples * kHistogramThreads;
  static_assert(kThreadSamples * kBlockWarps <= uint32_t{1} << (32 - kBinBits));

  __device__ TileSplitter(const HistogramArguments& arguments, uint32_t* columns, uint4* entries,
                          uint32_t* warp_sums, SharedOutcomes& outcomes)
      : arguments_(arguments),
        locator_(arguments),
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

  // Counts the loaded samples in their columns.
  __device__ void Rank(uint32_t tile) {
    const uint32_t lane = threadIdx.x % kWarpLanes;
    uint32_t unsure = 0;
#pragma unroll
    for (uint32_t i = 0; i < kThreadSamples; ++i) {
      const auto guess =
          locator_.Guess(PointOf<T>(rows_[i / kVectorSamples<T>], i % kVectorSamples<T>));
      // The others have columns of their own behind those of the partitions: less work than
      // branches, which would wait for one rank after the other.
      const bool is_sure = locator_.IsSure(guess);
      const uint32_t bin = is_sure ? guess.bin : arguments_.queue.partition_count << kPartitionBits;
      const uint32_t rank = atomicAdd(&columns_[(bin >> kPartitionBits) * kWarpLanes + lane], 1);
      ranked_[i] = rank << kBinBits | bin;
      unsure |= is_sure ? 0 : uint32_t{1} << i;
    }
#pragma unroll 1
    for (; unsure != 0; unsure &= unsure - 1) {
      const uint32_t i = static_cast<uint32_t>(__ffs(static_cast<int>(unsure))) - 1;
      CountAtOnce(FirstSample(tile) +
                  (i / kVectorSamples<T> * uint64_t{kHistogramThreads} + threadIdx.x) *
                      kVectorSamples<T> +
                  i % kVectorSamples<T>);
    }
  }

  // From the columns' counts to where each begins; notes where partitions do. All have ranked.
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

  __device__ void Order() {
    const uint32_t lane = threadIdx.x % kWarpLanes;
    auto* const ids = reinterpret_cast<uint16_t*>(entries_);
#pragma unroll
    for (uint32_t i = 0; i < kThreadSamples; ++i) {
      const uint32_t bin = ranked_[i] & ((uint32_t{1} << kBinBits) - 1);
      const uint32_t column = (bin >> kPartitionBits) * kWarpLanes + lane;
      ids[PlaceOfEntry(columns_[column] + (ranked_[i] >> kBinBits))] = static_cast<uint16_t>(bin);
    }
  }

  // All have ordered.
  __device__ void Write(uint32_t tile) const {
    constexpr uint32_t kVectorEntries = kVectorBytes / sizeof(uint16_t);
    auto* const to = reinterpret_cast<uint4*>(arguments_.queue.ids + uint64_t{tile} * kSamples);
    const uint32_t count = (entry_count_ + kVectorEntries - 1) / kVectorEntries;
    for (uint32_t v = threadIdx.x; v < count; v += kHistogramThreads) {
      to[v] = entries_[PlaceOfEntry(v * kVectorEntries) / kVectorEntries];
    }
  }

  // A sample that does not go through the queue.
  __device__ void CountAtOnce(uint64_t sample) {
    const SamplePoint<T> point = PointAt<T, Locator::kArrays>(arguments_, sample);
    const Placement placement = locator_.Resolve(locator_.Guess(point), point);
    if (placement.outcome != 0) outcomes_.Count(0, placement.outcome);
    if (placement.bin >= 0) AddToTotal(arguments_, static_cast<uint64_t>(placement.bin));
  }

 private:
  __device__ uint32_t column_count() const { return arguments_.queue.partition_count * kWarpLanes; }

  __device__ uint64_t FirstSample(uint32_t tile) const {
    return SamplesBeforeVectors<T>(arguments_.samples) +
           (arguments_.queue.first_tile + tile) * kSamples;
  }

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
__device__ void VisitBesideTiles(const HistogramArguments& arguments, Visit&& visit) {
  const uint64_t count = arguments.sample_count;
  const uint64_t head = min(uint64_t{SamplesBeforeVectors<T>(arguments.samples)}, count);
  const uint64_t tail = head + (count - head) / kTileSamples * kTileSamples;
  const uint64_t rest = head + (count - tail);
#pragma unroll 1
  for (uint64_t i = threadIdx.x; i < rest; i += kHistogramThreads) {
    visit(i < head ? i : tail + (i - head));
  }
}

template <class T, class Locator>
__global__ void __launch_bounds__(kHistogramThreads)
    SplitSamples(const __grid_constant__ HistogramArguments arguments) {
  using Splitter = TileSplitter<T, Locator>;
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t warp_sums[kBlockWarps];
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  SharedOutcomes outcomes(outcome_counts);
  const PartitionQueue& queue = arguments.queue;
  auto* const columns = reinterpret_cast<uint32_t*>(shared);
  auto* const entries =
      reinterpret_cast<uint4*>(columns + (queue.partition_count + 1) * kWarpLanes);
  Splitter splitter(arguments, columns, entries, warp_sums, outcomes);
  outcomes.Clear();
  splitter.ClearColumns();
  uint32_t tile = blockIdx.x;
  if (tile < queue.tile_count) splitter.Load(tile);
  __syncthreads();
  while (tile < queue.tile_count) {
    splitter.Rank(tile);
    const uint32_t next = tile + gridDim.x;
    if (next < queue.tile_count) splitter.Load(next);
    __syncthreads();
    splitter.OrderColumns(tile);
    splitter.Order();
    __syncthreads();
    splitter.Write(tile);
    splitter.ClearColumns();
    __syncthreads();
    tile = next;
  }
  if (blockIdx.x == 0 && queue.first_tile == 0) {
    VisitBesideTiles<T, Splitter::kSamples>(arguments,
                                            [&](uint64_t sample) { splitter.CountAtOnce(sample); });
  }
  __syncthreads();
  outcomes.Flush(arguments);
}

}  // namespace

HistogramKernel FindSplitKernel(ElementType type, GuessKind kind) {
  return VisitElementType(type, [&](auto tag) -> HistogramKernel {
    using T = typename decltype(tag)::type;
    if constexpr (CanSplit(sizeof(T))) {
      return kind == GuessKind::kPlane ? SplitSamples<T, PlaneLocator>
                                       : SplitSamples<T, ManyBinsLocator>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace gridfold::kernels::cuda
