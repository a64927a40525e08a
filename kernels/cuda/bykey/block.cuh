// What threads of a block do together. For bykey/ only.
#ifndef GRIDFOLD_KERNELS_CUDA_BYKEY_BLOCK_CUH_
#define GRIDFOLD_KERNELS_CUDA_BYKEY_BLOCK_CUH_

#include <cstdint>

#include "kernels/cuda/bykey/kernels.h"

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kKeyWarps = kKeyThreads / 32;
inline constexpr uint32_t kAllLanes = 0xFFFF'FFFFu;

// The thread's first element of a loop over all, and the step to the next.
__device__ inline uint64_t FirstElement() {
  return uint64_t{blockIdx.x} * kKeyThreads + threadIdx.x;
}
__device__ inline uint64_t ElementStep() { return uint64_t{gridDim.x} * kKeyThreads; }

// The sum of the values of the threads before this one; `total` is that of all. All threads of the
// block call it; it begins and ends with a barrier.
template <class T>
__device__ inline T SumBefore(T value, T* total) {
  __shared__ T warp_sums[kKeyWarps];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  T sum = value;
#pragma unroll
  for (uint32_t step = 1; step < 32; step *= 2) {
    const T before = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += before;
  }
  __syncthreads();
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  T before_warp = 0;
  T all = 0;
#pragma unroll
  for (uint32_t w = 0; w < kKeyWarps; ++w) {
    if (w < warp) before_warp += warp_sums[w];
    all += warp_sums[w];
  }
  *total = all;
  __syncthreads();
  return before_warp + sum - value;
}

struct Chunk {
  uint64_t begin;
  uint64_t end;
};
// The block's.
__device__ inline Chunk ChunkOf(const KeyChunks& chunks) {
  const uint64_t begin = blockIdx.x * chunks.chunk;
  const uint64_t end = begin + chunks.chunk;
  return {begin < chunks.count ? begin : chunks.count, end < chunks.count ? end : chunks.count};
}

__device__ inline unsigned long long* AtomicWord(uint64_t* word) {
  return reinterpret_cast<unsigned long long*>(word);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BYKEY_BLOCK_CUH_
