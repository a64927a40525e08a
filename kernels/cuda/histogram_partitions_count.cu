// The second pass of histograms of very many bins: see histogram_partitions.h. Blocks take equal
// shares of all entries of the queue, ordered by partition.
#include "kernels/cuda/histogram_block_sum.cuh"
#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_partitions.h"

namespace gridfold::kernels::cuda {

namespace {

// Where a share begins, or ends: in the queue of a partition, at a tile.
struct QueueCut {
  uint32_t partition;
  uint32_t tile;
};

// What a block finds out before it counts; in its shared memory.
struct ShareOfBlock {
  QueueCut begin;
  QueueCut end;
  uint32_t partition_totals[kPartitionsMax];
  uint32_t warp_sums[kBlockWarps];
};

// Finds the block's share. Within a slice of tiles entries are taken as evenly spread: whatever the
// truth, neighbours agree on the cut between them. All threads of the block.
__device__ void FindShare(const PartitionQueue& queue, ShareOfBlock& share) {
  constexpr uint32_t kItems = kPartitionsMax * kQueueSlices / kHistogramThreads;
  const uint32_t item_count = queue.partition_count * kQueueSlices;
  if (threadIdx.x == 0) share.begin = share.end = {queue.partition_count, 0};
  if (threadIdx.x < kPartitionsMax) share.partition_totals[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t first_item = threadIdx.x * kItems;
  uint32_t weights[kItems];
  uint32_t sum = 0;
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k) {
    weights[k] = first_item + k < item_count ? queue.weights[first_item + k] : 0;
    sum += weights[k];
  }
  if (sum != 0) atomicAdd(&share.partition_totals[first_item / kQueueSlices], sum);
  const BlockSums sums = BlockSums::Of(sum, share.warp_sums);
  for (uint32_t side = 0; side < 2; ++side) {
    const uint32_t entry =
        static_cast<uint32_t>(uint64_t{sums.total} * (blockIdx.x + side) / gridDim.x);
    uint32_t before = sums.before;
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      if (entry >= before && entry - before < weights[k]) {
        const uint32_t slice = (first_item + k) % kQueueSlices;
        const uint64_t within = uint64_t{entry - before} * queue.slice_tiles / weights[k];
        (side == 0 ? share.begin : share.end) = {
            (first_item + k) / kQueueSlices,
            slice * queue.slice_tiles + static_cast<uint32_t>(within)};
      }
      before += weights[k];
    }
  }
  __syncthreads();
}

// Counts entries [begin, end) of a tile. All lanes of a warp; the counter behind those of all bins
// is never read.
__device__ inline void CountEntries(const uint16_t* tile, uint32_t begin, uint32_t end,
                                    uint32_t counters) {
  constexpr uint32_t kAtOnce = 8;
  const uint32_t lane = threadIdx.x % kWarpLanes;
#pragma unroll 1
  for (; begin < end; begin += kAtOnce * kWarpLanes) {
    uint32_t ids[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      const uint32_t i = begin + k * kWarpLanes + lane;
      ids[k] = i < end ? tile[i] : kPartitionBins;
    }
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      if (begin + k * kWarpLanes >= end) break;
      SharedCounters::AddAt(counters + ids[k] * static_cast<uint32_t>(sizeof(uint32_t)));
    }
  }
}

// Counts what the tiles [begin, end) have of a partition. All threads of the block.
__device__ void CountTiles(const PartitionQueue& queue, uint32_t partition, uint32_t begin,
                           uint32_t end, uint32_t counters) {
  const uint32_t lane = threadIdx.x % kWarpLanes;
  const uint16_t* const firsts = queue.firsts + uint64_t{partition} * queue.tile_capacity;
  // Each warp has every kBlockWarps-th tile, and each of its lanes looks up one of them.
  for (uint32_t first = begin + threadIdx.x / kWarpLanes; first < end;
       first += kBlockWarps * kWarpLanes) {
    const uint32_t own = first + lane * kBlockWarps;
    const uint32_t own_begin = own < end ? firsts[own] : 0;
    const uint32_t own_end = own < end ? firsts[queue.tile_capacity + own] : 0;
    for (uint32_t s = 0; s < kWarpLanes && first + s * kBlockWarps < end; ++s) {
      const uint64_t tile = first + s * kBlockWarps;
      CountEntries(queue.ids + tile * queue.tile_samples, __shfl_sync(~0u, own_begin, s),
                   __shfl_sync(~0u, own_end, s), counters);
    }
  }
}

__global__ void __launch_bounds__(kHistogramThreads)
    CountPartitions(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ ShareOfBlock share;
  auto* const counters = reinterpret_cast<uint32_t*>(shared);
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(counters));
  const PartitionQueue& queue = arguments.queue;
  for (uint32_t i = threadIdx.x; i < kPartitionBins; i += kHistogramThreads) counters[i] = 0;
  FindShare(queue, share);
  const QueueCut end = share.end;
  for (QueueCut cut = share.begin; cut.partition < queue.partition_count;
       cut = {cut.partition + 1, 0}) {
    const bool is_last = cut.partition >= end.partition;
    const uint32_t tiles_end = is_last ? min(end.tile, queue.tile_count) : queue.tile_count;
    if (cut.partition > end.partition) break;
    if (cut.tile >= tiles_end || share.partition_totals[cut.partition] == 0) continue;
    CountTiles(queue, cut.partition, cut.tile, tiles_end, address);
    __syncthreads();
    const uint64_t first_bin = uint64_t{cut.partition} << kPartitionBits;
    for (uint32_t i = threadIdx.x; i < kPartitionBins; i += kHistogramThreads) {
      if (counters[i] == 0) continue;
      atomicAdd(reinterpret_cast<unsigned long long*>(arguments.counters) + first_bin + i,
                static_cast<unsigned long long>(counters[i]));
      counters[i] = 0;
    }
    __syncthreads();
  }
}

}  // namespace

HistogramKernel FindCountPartitionsKernel() { return CountPartitions; }

}  // namespace gridfold::kernels::cuda
