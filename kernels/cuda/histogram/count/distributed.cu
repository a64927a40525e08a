// Bins dealt out over the shared memories of a cluster, as the CUDA programming guide introduces
// distributed shared memory: every block counts samples of its own, in whichever block's counters
// they belong to.
//
// Example, 8,192 bins, a cluster of two blocks: a sample of bin 5,000 that block 0 reads is counted
// by a remote atomic in block 1, at counter 904.
//
// A remote atomic takes several times a local one, and all but one in `blocks` are remote. Blocks
// that each count all bins and join at the end (histogram/together) need no more than one remote
// load for each bin and block, so they are always faster; this kernel is here to show that.
#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/sampler.cuh"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/plan/distributed.h"

namespace gridfold::kernels::cuda {

namespace {

// Adds a block's counters to the totals of its bins, and clears them. All threads of the block.
__device__ void FlushOwn(const HistogramArguments& arguments, const BinRange& own,
                         uint32_t* counters) {
  auto* const totals = reinterpret_cast<unsigned long long*>(arguments.counters) + own.first;
  for (uint32_t i = threadIdx.x; i < own.count; i += blockDim.x) {
    if (counters[i] == 0) continue;
    atomicAdd(&totals[i], static_cast<unsigned long long>(counters[i]));
    counters[i] = 0;
  }
}

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountDistributed(const __grid_constant__ HistogramArguments arguments) {
#if __CUDA_ARCH__ >= 900
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  uint32_t* const counters = reinterpret_cast<uint32_t*>(shared);
  const auto cluster = cooperative_groups::this_cluster();
  const BinRange own = BinRange::Of(arguments, cluster.block_rank());
  for (uint32_t i = threadIdx.x; i < own.count; i += blockDim.x) counters[i] = 0;

  Sampler<T> sampler(arguments, nullptr);
  // A counter may get all samples of its cluster.
  const uint64_t steps_per_flush =
      max(arguments.steps_per_flush / cluster.num_blocks(), uint64_t{1});
  for (uint64_t begin = 0; begin < sampler.steps(); begin += steps_per_flush) {
    const uint64_t end = min(begin + steps_per_flush, uint64_t{sampler.steps()});
    cluster.sync();  // All counters are clear.
    sampler.ForEach(
        static_cast<uint32_t>(begin), static_cast<uint32_t>(end), [&](uint64_t bin, uint32_t) {
          const uint32_t owner = static_cast<uint32_t>(bin) / arguments.bins_per_block;
          const uint32_t i = static_cast<uint32_t>(bin) - owner * arguments.bins_per_block;
          atomicAdd(cluster.map_shared_rank(counters, owner) + i, 1u);
        });
    cluster.sync();  // Nobody adds to this block's counters any more.
    FlushOwn(arguments, own, counters);
  }
  sampler.ReportOutcomes();
#endif
}

}  // namespace

HistogramKernel FindDistributedHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountDistributed<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
