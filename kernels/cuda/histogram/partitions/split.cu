// The first pass of histograms of very many bins: see partitions.h.
#include "kernels/cuda/histogram/partitions/tile_splitter.cuh"
#include "kernels/cuda/histogram/place/counters.cuh"

namespace gridfold::kernels::cuda {

namespace {

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
  const auto count_at_once = [&](uint64_t sample) {
    const Placement placement = splitter.PlaceAtOnce(sample);
    if (placement.bin >= 0) AddToTotal(arguments, static_cast<uint64_t>(placement.bin));
  };
  outcomes.Clear();
  splitter.ClearColumns();
  uint32_t tile = blockIdx.x;
  if (tile < queue.tile_count) splitter.Load(tile);
  __syncthreads();
  while (tile < queue.tile_count) {
    splitter.Rank(tile, count_at_once);
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
    VisitBesideTiles<T, Splitter::kSamples>(arguments, count_at_once);
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
