// The first pass of weighted histograms of many bins: see histogram/partitions/partitions.h. The
// weights of a tile are ordered as its bins are.
#include "kernels/cuda/histogram/partitions/tile_splitter.cuh"
#include "kernels/cuda/histogram/weights/turns.cuh"
#include "kernels/cuda/histogram/weights/weights.cuh"

namespace gridfold::kernels::cuda {

namespace {

// The bins of a pass.
class PassBins {
 public:
  __device__ explicit PassBins(const HistogramArguments& arguments)
      : first_(static_cast<uint32_t>(arguments.first_bin)),
        count_(static_cast<uint32_t>(arguments.pass_bin_count)),
        partition_bits_(arguments.queue.partition_bits) {}

  __device__ uint32_t partition_bits() const { return partition_bits_; }
  __device__ uint32_t NumberOf(uint32_t bin) const { return bin - first_; }
  __device__ bool Has(uint32_t number) const { return number < count_; }

 private:
  const uint32_t first_;
  const uint32_t count_;
  const uint32_t partition_bits_;
};

// The weights of a thread's samples of a tile; W is as wide as they are.
template <class T, class W, class Splitter>
class TileWeights {
 public:
  __device__ void Load(const HistogramArguments& arguments, uint64_t first_sample) {
    const W* const first = static_cast<const W*>(arguments.weights) + first_sample;
    const auto* const vectors = reinterpret_cast<const Vector*>(first) + threadIdx.x;
#pragma unroll
    for (uint32_t k = 0; k < Splitter::kRows; ++k) rows_[k] = vectors[k * kHistogramThreads];
  }

  __device__ W Of(uint32_t i) const {
    return static_cast<W>(WeightBits<W>(rows_[i / kVectorSamples<T>], i % kVectorSamples<T>));
  }

 private:
  using Vector = WeightVector<kVectorSamples<T> * uint32_t{sizeof(W)}>;

  Vector rows_[Splitter::kRows];
};

// Adds the weight of a sample that does not go through the queue. A call, so that what it takes is
// no burden to others.
__device__ __noinline__ void AddAtOnce(const HistogramArguments& arguments, int64_t bin,
                                       uint64_t sample) {
  GlobalSums totals(arguments);
  if (bin < 0 || !totals.Has(static_cast<uint64_t>(bin))) return;
  AddWeight(totals, static_cast<uint64_t>(bin), LoadWeight(arguments, sample),
            arguments.flags_kept);
}

template <class T, class W>
__global__ void __launch_bounds__(kHistogramThreads)
    SplitWeighted(const __grid_constant__ HistogramArguments arguments) {
  using Splitter =
      TileSplitter<T, ManyBinsLocator, PassBins, WeightedTileVectors(uint32_t{sizeof(W)})>;
  constexpr uint32_t kEntries = Splitter::kSamples + Splitter::kSamples / kWarpLanes;
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t warp_sums[kBlockWarps];
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  SharedOutcomes outcomes(outcome_counts);
  const PartitionQueue& queue = arguments.queue;
  auto* const columns = reinterpret_cast<uint32_t*>(shared);
  auto* const entries =
      reinterpret_cast<uint4*>(columns + (queue.partition_count + 1) * kWarpLanes);
  auto* const weights = reinterpret_cast<uint4*>(reinterpret_cast<uint16_t*>(entries) + kEntries);
  Splitter splitter(arguments, columns, entries, warp_sums, outcomes);
  const auto add_at_once = [&](uint64_t sample) {
    AddAtOnce(arguments, splitter.PlaceAtOnce(sample).bin, sample);
  };
  outcomes.Clear();
  splitter.ClearColumns();
  uint32_t tile = blockIdx.x;
  if (tile < queue.tile_count) splitter.Load(tile);
  __syncthreads();
  while (tile < queue.tile_count) {
    splitter.Rank(tile, add_at_once);
    TileWeights<T, W, Splitter> tile_weights;
    tile_weights.Load(arguments, splitter.FirstSample(tile));
    const uint32_t next = tile + gridDim.x;
    if (next < queue.tile_count) splitter.Load(next);
    __syncthreads();
    splitter.OrderColumns(tile);
    splitter.Order([&](uint32_t i, uint32_t entry) {
      constexpr uint32_t kBytes = sizeof(W);
      if (entry >= Splitter::kSamples) return;  // Of no partition.
      reinterpret_cast<W*>(weights)[Splitter::template PlaceOfEntry<kBytes>(entry)] =
          tile_weights.Of(i);
    });
    __syncthreads();
    splitter.Write(tile);
    splitter.template Write<sizeof(W)>(tile, weights, queue.entry_weights);
    splitter.ClearColumns();
    __syncthreads();
    tile = next;
  }
  if (blockIdx.x == 0) VisitBesideTiles<T, Splitter::kSamples>(arguments, add_at_once);
  __syncthreads();
  if (arguments.outcomes != nullptr) outcomes.Flush(arguments);
}

template <class T>
HistogramKernel KernelFor(uint64_t weight_bytes) {
  switch (weight_bytes) {
    case 1: return SplitWeighted<T, uint8_t>;
    case 2: return SplitWeighted<T, uint16_t>;
    case 4: return SplitWeighted<T, uint32_t>;
    case 8: return SplitWeighted<T, uint64_t>;
  }
  return nullptr;
}

}  // namespace

HistogramKernel FindWeightedSplitKernel(ElementType type, ElementType weight_type) {
  if (FindWindowWeightsKernel(type, weight_type) == nullptr) return nullptr;
  const uint64_t weight_bytes = ElementSize(weight_type);
  if (type == ElementType::kFloat32) return KernelFor<float>(weight_bytes);
  if (type == ElementType::kInt32) return KernelFor<int32_t>(weight_bytes);
  if (type == ElementType::kUint32) return KernelFor<uint32_t>(weight_bytes);
  return nullptr;
}

}  // namespace gridfold::kernels::cuda
