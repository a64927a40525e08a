// Even and integer bins of one channel, too many for the shared memory of one block: the blocks of
// a cluster have a range of them each, and read the same samples, which leave L2 once for all of
// them.
#include "kernels/cuda/device/multicast_ring.cuh"
#include "kernels/cuda/histogram/count/guessing.cuh"
#include "kernels/cuda/histogram/place/locators.cuh"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInCluster(const __grid_constant__ HistogramArguments arguments) {
#if __CUDA_ARCH__ >= 900
  alignas(128) extern __shared__ unsigned char shared[];
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  MulticastRing ring(shared, arguments.ring_stages);
  const BinRange bins = BinRange::Of(arguments);
  SharedCounters counters =
      bins.CountersIn(arguments, shared + MulticastRingBytes(arguments.ring_stages));
  SharedOutcomes outcomes(outcome_counts);
  counters.Clear();
  outcomes.Clear();
  ring.Begin();

  const BlockShare cluster = BlockShare::Of(arguments.part_count);
  const TurnRange<T, 1, MulticastRing::kTakingWarps> range(arguments.samples, nullptr,
                                                           arguments.sample_count, cluster);
  GuessingCounter<T, EvenLocator> counter(EvenLocator(arguments, bins), counters, outcomes);
  if (cluster.rank == 0) {
    range.VisitRest([&](uint64_t i) { counter.Count(PointAt<T, 1>(arguments, i)); });
  }
  const uint64_t tiles_per_flush = arguments.TurnsPerFlush(range.kTurnSamples);
  uint64_t begin = 0;
  do {
    const uint64_t end = min(begin + tiles_per_flush, uint64_t{range.count});
    if (!ring.IsCopyingWarp()) {
      for (uint64_t tile = begin; tile < end; ++tile) counter.Count(VectorRow<1>{ring.Take()});
    } else if (threadIdx.x % kWarpLanes == 0) {
      for (uint64_t tile = begin; tile < end; ++tile) {
        ring.Copy(range.Of(static_cast<uint32_t>(tile)));
      }
    }
    __syncthreads();
    FlushGuessed<EvenLocator>(arguments, bins, counters, outcomes);
    __syncthreads();
    begin = end;
  } while (begin < range.count);
  ring.End();
#endif
}

}  // namespace

HistogramKernel FindClusterHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountInCluster<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
