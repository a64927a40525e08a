#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "kernels/cuda/histogram/compact_kernels.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr int kWarps = kCompactThreads / 32;

using Warp = cooperative_groups::thread_block_tile<32>;

__device__ Warp ThisWarp() {
  return cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
}

// The sums over the block's threads before this one, and over all of them. Ends with a barrier, so
// that `warp_sums` may be used again.
struct BlockScan {
  uint64_t before;
  uint64_t total;
};
__device__ BlockScan ScanBlock(uint64_t value, uint64_t (&warp_sums)[kWarps]) {
  const Warp warp = ThisWarp();
  const uint64_t inclusive =
      cooperative_groups::inclusive_scan(warp, value, cooperative_groups::plus<uint64_t>());
  if (warp.thread_rank() == 31) warp_sums[warp.meta_group_rank()] = inclusive;
  __syncthreads();
  BlockScan scan{inclusive - value, 0};
  for (int w = 0; w < kWarps; ++w) {
    if (w < static_cast<int>(warp.meta_group_rank())) scan.before += warp_sums[w];
    scan.total += warp_sums[w];
  }
  __syncthreads();
  return scan;
}

__device__ bool IsNonZero(uint64_t word, WordKind kind) {
  return kind == WordKind::kFloat64 ? word << 1 != 0 : word != 0;
}

// Words of this thread in the tile: kCompactItems consecutive ones. Bit k: whether word k is not 0.
__device__ uint32_t NonZeroBits(const CompactArguments& arguments, uint64_t begin) {
  uint32_t bits = 0;
  for (int k = 0; k < kCompactItems; ++k) {
    if (begin + k < arguments.word_count && IsNonZero(arguments.words[begin + k], arguments.kind)) {
      bits |= 1u << k;
    }
  }
  return bits;
}

__device__ uint64_t BeginOfThread(uint64_t tile) {
  return tile * kCompactTile + threadIdx.x * kCompactItems;
}

__global__ void __launch_bounds__(kCompactThreads) CountTiles(const CompactArguments arguments) {
  __shared__ uint64_t warp_sums[kWarps];
  for (uint64_t tile = blockIdx.x; tile < arguments.tile_count; tile += gridDim.x) {
    const uint32_t bits = NonZeroBits(arguments, BeginOfThread(tile));
    const BlockScan scan = ScanBlock(__popc(bits), warp_sums);
    if (threadIdx.x == 0) arguments.tile_counts[tile] = scan.total;
  }
}

__global__ void __launch_bounds__(kCompactThreads)
    ScanTileCounts(const CompactArguments arguments) {
  __shared__ uint64_t warp_sums[kWarps];
  uint64_t before_all = 0;
  for (uint64_t begin = 0; begin < arguments.tile_count; begin += kCompactThreads) {
    const uint64_t tile = begin + threadIdx.x;
    const bool is_tile = tile < arguments.tile_count;
    const BlockScan scan = ScanBlock(is_tile ? arguments.tile_counts[tile] : 0, warp_sums);
    if (is_tile) arguments.tile_counts[tile] = before_all + scan.before;
    before_all += scan.total;
  }
  if (threadIdx.x == 0) *arguments.output.count = before_all;
}

__global__ void __launch_bounds__(kCompactThreads) WriteTiles(const CompactArguments arguments) {
  __shared__ uint64_t warp_sums[kWarps];
  for (uint64_t tile = blockIdx.x; tile < arguments.tile_count; tile += gridDim.x) {
    const uint64_t begin = BeginOfThread(tile);
    const uint32_t bits = NonZeroBits(arguments, begin);
    const BlockScan scan = ScanBlock(__popc(bits), warp_sums);
    uint64_t place = arguments.tile_counts[tile] + scan.before;
    for (int k = 0; k < kCompactItems; ++k) {
      if ((bits >> k & 1) == 0) continue;
      arguments.output.values[place] = arguments.words[begin + k];
      arguments.output.indices[place] = begin + k;
      ++place;
    }
  }
}

}  // namespace

CompactKernels FindCompactKernels() { return {CountTiles, ScanTileCounts, WriteTiles}; }

}  // namespace gridfold::kernels::cuda
