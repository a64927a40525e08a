// The blocks of a launch that can meet: those of one cluster, or of a cooperative grid.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_TOGETHER_TEAM_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_TOGETHER_TEAM_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/outcomes.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"

namespace gridfold::kernels::cuda {

// A cluster is the whole grid. Blocks see each other's shared memory.
struct ClusterTeam {
  // Blocks store the whole answer, so that nothing has to be cleared.
  __device__ static void ClearAnswer(const HistogramArguments&) {}
  __device__ static void Begin() { __syncthreads(); }
  __device__ static void Meet() {
#if __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
#endif
  }

  // Stores the totals of all blocks. All threads of all blocks.
  __device__ static void Join(const HistogramArguments& arguments, const BinRange& bins,
                              SharedCounters& counters, SharedOutcomes& outcomes) {
#if __CUDA_ARCH__ >= 900
    const auto cluster = cooperative_groups::this_cluster();
    const uint32_t blocks = cluster.num_blocks();
    cluster.sync();
    const uint32_t words = bins.count * arguments.copies;
    const uint32_t copies_log2 =
        static_cast<uint32_t>(__ffs(static_cast<int>(arguments.copies))) - 1;
    // Whole warps, whose lanes have all copies of a counter.
    const uint32_t share = (words + blocks * warpSize - 1) / (blocks * warpSize) * warpSize;
    const uint32_t begin = cluster.block_rank() * share;
    for (uint32_t w = begin + threadIdx.x; w < begin + share; w += blockDim.x) {
      uint32_t total = 0;
      for (uint32_t b = 0; b < blocks && w < words; ++b) {
        total += cluster.map_shared_rank(counters.words(), b)[w];
      }
      for (uint32_t distance = 1; distance < arguments.copies; distance *= 2) {
        total += __shfl_xor_sync(~0u, total, distance);
      }
      if (w < words && (threadIdx.x & (arguments.copies - 1)) == 0) {
        arguments.counters[w >> copies_log2] = total;
      }
    }
    if (cluster.block_rank() == 0 && threadIdx.x < arguments.channel_count * kOutcomeCount) {
      uint64_t total = 0;
      for (uint32_t b = 0; b < blocks; ++b) {
        total += cluster.map_shared_rank(outcomes.counts(), b)[threadIdx.x];
      }
      arguments.outcomes[threadIdx.x] = total;
    }
    cluster.sync();  // Until all have read this block's.
#endif
  }
};

// A grid that was launched cooperatively.
struct GridTeam {
  __device__ static void ClearAnswer(const HistogramArguments& arguments) {
    const uint64_t words = arguments.bin_count + uint64_t{arguments.channel_count} * kOutcomeCount;
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t w = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; w < words; w += threads) {
      arguments.outcomes[w] = 0;
    }
  }
  __device__ static void Begin() { Meet(); }
  __device__ static void Meet() { cooperative_groups::this_grid().sync(); }

  // Adds the block's totals to those of the others. All threads of the block.
  __device__ static void Join(const HistogramArguments& arguments, const BinRange& bins,
                              SharedCounters& counters, SharedOutcomes& outcomes) {
    FlushCounters(arguments, bins, counters);
    outcomes.Flush(arguments);
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_TOGETHER_TEAM_CUH_
