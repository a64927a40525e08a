// Sums over the threads of a block of kHistogramThreads.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_BLOCK_SUM_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_BLOCK_SUM_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kBlockWarps = kHistogramThreads / kWarpLanes;
static_assert(kBlockWarps == kWarpLanes, "a warp adds up the warps' sums");

__device__ inline uint32_t WarpInclusiveSum(uint32_t value) {
  const uint32_t lane = threadIdx.x % kWarpLanes;
#pragma unroll
  for (uint32_t distance = 1; distance < kWarpLanes; distance *= 2) {
    const uint32_t before = __shfl_up_sync(~0u, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// What the threads before this one have, and all of them. All threads of the block, which meet;
// `warp_sums` are kBlockWarps words of its shared memory, and free again when they meet next.
struct BlockSums {
  uint32_t before;
  uint32_t total;

  __device__ static BlockSums Of(uint32_t value, uint32_t* warp_sums) {
    const uint32_t lane = threadIdx.x % kWarpLanes;
    const uint32_t warp = threadIdx.x / kWarpLanes;
    const uint32_t inclusive = WarpInclusiveSum(value);
    if (lane == kWarpLanes - 1) warp_sums[warp] = inclusive;
    __syncthreads();
    const uint32_t warps = WarpInclusiveSum(warp_sums[lane]);
    const uint32_t warps_before = __shfl_sync(~0u, warps, warp == 0 ? 0 : warp - 1);
    return {(warp == 0 ? 0 : warps_before) + inclusive - value,
            __shfl_sync(~0u, warps, kWarpLanes - 1)};
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_BLOCK_SUM_CUH_
