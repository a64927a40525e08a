// The wanted keys of a large group, in the order of their ranks.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_WANTED_CUH_
#define GRIDFOLD_KERNELS_CUDA_ORDER_WANTED_CUH_

#include <cstdint>

#include "kernels/cuda/order/elements.cuh"

namespace gridfold::kernels::cuda {

inline constexpr uint64_t kNoRank = ~uint64_t{0};

// How many of a block's threads have `is_one`: of those before the calling one, and of all. By a
// block of kWantedMax threads.
struct BlockCount {
  uint32_t before;
  uint32_t total;
};
__device__ inline BlockCount CountInBlock(bool is_one) {
  constexpr uint32_t kWarps = kWantedMax / kWarpLanes;
  __shared__ uint32_t sums[kWarps];
  const uint32_t ones = __ballot_sync(kAllLanes, is_one);
  const uint32_t warp = threadIdx.x / kWarpLanes;
  if (LaneId() == 0) sums[warp] = __popc(ones);
  __syncthreads();
  BlockCount count{static_cast<uint32_t>(__popc(ones & LanesBelow())), 0};
  for (uint32_t w = 0; w < kWarps; ++w) {
    if (w < warp) count.before += sums[w];
    count.total += sums[w];
  }
  __syncthreads();  // The next call writes them.
  return count;
}

// Wants the keys at the ranks of all threads, each once. By a block of kWantedMax threads, of which
// some have kNoRank.
__device__ inline void WantRanks(DigitState& state, uint64_t rank) {
  __shared__ uint64_t ranks[kWantedMax];
  const uint32_t i = threadIdx.x;
  ranks[i] = rank;
  for (uint32_t width = 2; width <= kWantedMax; width *= 2) {
    for (uint32_t apart = width / 2; apart > 0; apart /= 2) {
      __syncthreads();
      const uint32_t other = i ^ apart;
      if (other <= i) continue;
      const bool ascends = (i & width) == 0;
      if ((ranks[i] > ranks[other]) == ascends) {
        const uint64_t rank_here = ranks[i];
        ranks[i] = ranks[other];
        ranks[other] = rank_here;
      }
    }
  }
  __syncthreads();
  const bool is_new = ranks[i] != kNoRank && (i == 0 || ranks[i] != ranks[i - 1]);
  const BlockCount wanted = CountInBlock(is_new);
  if (is_new) state.wanted[wanted.before] = {.rank = ranks[i], .left = ranks[i]};
  if (i == 0) state.wanted_count = wanted.total;
}

// The wanted key at a rank, which is one of those that are wanted.
__device__ inline const WantedKey& WantedAt(const DigitState& state, uint64_t rank) {
  uint32_t first = 0;
  for (uint32_t size = state.wanted_count; size > 1;) {
    const uint32_t half = size / 2;
    if (state.wanted[first + half].rank <= rank) first += half;
    size -= half;
  }
  return state.wanted[first];
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_WANTED_CUH_
