// Blocks share out a queue of partitions (partitions.h): each takes an equal part of the work,
// partition by partition.
//
// Example, 3 blocks, partitions with 4, 1 and 7 entries:
//
//   12 entries, 4 for each block: block 0 takes partition 0, block 1 all of partition 1 and 3
//   entries of partition 2, block 2 the last 4 of partition 2; totals are added atomically
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_SHARES_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_SHARES_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/block_sum.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

// Entries in whose time a block looks up where a tile's entries are and waits for the first of
// them.
inline constexpr uint32_t kEntriesOfLookup = 128;

// Work is counted in entries. A place in a partition's work: so much behind the first of some
// tiles.
struct WorkPlace {
  uint32_t partition;
  uint32_t first_tile;
  uint32_t work;
};

// What a block finds out before it counts; in its shared memory.
struct ShareOfBlock {
  WorkPlace places[2];  // Where it begins, and where it ends.
  uint32_t tiles[2];    // Their tiles.
  bool has_entries[kPartitionsMax];
  uint32_t warp_sums[kBlockWarps];
};

// Finds the slices in which the block's share of the work begins and ends: of entries, and of tiles
// whose entries are looked up. All threads of the block.
__device__ inline void FindPlaces(const PartitionQueue& queue, ShareOfBlock& share) {
  constexpr uint32_t kItems = kPartitionsMax * kQueueSlices / kHistogramThreads;
  const uint32_t item_count = queue.partition_count * kQueueSlices;
  if (threadIdx.x < 2) share.places[threadIdx.x] = {queue.partition_count, 0, 0};
  if (threadIdx.x < kPartitionsMax) share.has_entries[threadIdx.x] = false;
  __syncthreads();
  const uint32_t first_item = threadIdx.x * kItems;
  uint32_t weights[kItems];
  uint32_t sum = 0;
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k) {
    weights[k] = first_item + k < item_count ? queue.weights[first_item + k] : 0;
    if (weights[k] != 0) weights[k] += queue.slice_tiles * kEntriesOfLookup;
    sum += weights[k];
  }
  if (sum != 0) share.has_entries[first_item / kQueueSlices] = true;
  const BlockSums sums = BlockSums::Of(sum, share.warp_sums);
  for (uint32_t side = 0; side < 2; ++side) {
    const uint32_t cut =
        static_cast<uint32_t>(uint64_t{sums.total} * (blockIdx.x + side) / gridDim.x);
    uint32_t before = sums.before;
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      if (cut >= before && cut - before < weights[k]) {
        share.places[side] = {(first_item + k) / kQueueSlices,
                              (first_item + k) % kQueueSlices * queue.slice_tiles, cut - before};
      }
      before += weights[k];
    }
  }
  __syncthreads();
}

// Finds the tile of a place within its slice, whose tiles may have all its entries or none: the
// neighbours of a cut agree on it. All threads of the block.
__device__ inline void FindTile(const PartitionQueue& queue, uint32_t side, ShareOfBlock& share) {
  const WorkPlace place = share.places[side];
  const uint32_t tile = place.first_tile + threadIdx.x;
  uint32_t work = 0;
  if (place.partition < queue.partition_count && threadIdx.x < queue.slice_tiles &&
      tile < queue.tile_count) {
    const uint16_t* const first =
        queue.firsts + uint64_t{place.partition} * queue.tile_capacity + tile;
    work = first[queue.tile_capacity] - first[0] + kEntriesOfLookup;
  }
  // The last slice may have fewer tiles than it is taken to have.
  if (threadIdx.x == 0) share.tiles[side] = queue.tile_count;
  const BlockSums sums = BlockSums::Of(work, share.warp_sums);
  if (place.work >= sums.before && place.work - sums.before < work) share.tiles[side] = tile;
  __syncthreads();
}

// Calls visit(partition, begin, end) for the tiles [begin, end) of each partition that the block
// has a share of. All threads of the block; needs no barrier after.
template <class Visit>
__device__ inline void ForEachShare(const PartitionQueue& queue, ShareOfBlock& share,
                                    Visit&& visit) {
  FindPlaces(queue, share);
  FindTile(queue, 0, share);
  FindTile(queue, 1, share);
  const uint32_t last = share.places[1].partition;
  uint32_t begin = share.tiles[0];
  for (uint32_t p = share.places[0].partition; p < queue.partition_count && p <= last; ++p) {
    const uint32_t end = p == last ? share.tiles[1] : queue.tile_count;
    if (begin < end && share.has_entries[p]) visit(p, begin, end);
    begin = 0;
  }
}

// Entries [begin, end) of a tile, of which entry 0 is this one of the queue.
struct EntryRun {
  uint64_t first;
  uint32_t begin;
  uint32_t end;

  __device__ uint32_t count() const { return end - begin; }

  // That of a lane of the warp. All its lanes.
  __device__ EntryRun OfLane(int lane) const {
    return {__shfl_sync(~0u, first, lane), __shfl_sync(~0u, begin, lane),
            __shfl_sync(~0u, end, lane)};
  }
};

// What the tiles before `end`, of which there is one, have of a partition.
class PartitionRuns {
 public:
  __device__ PartitionRuns(const PartitionQueue& queue, uint32_t partition, uint32_t end)
      : queue_(queue),
        firsts_(queue.firsts + uint64_t{partition} * queue.tile_capacity),
        end_(end) {}

  // No entries behind the last tile.
  __device__ EntryRun Of(uint32_t tile) const {
    const uint32_t there = min(tile, end_ - 1);
    const uint32_t begin = firsts_[there];
    const uint32_t end = firsts_[queue_.tile_capacity + there];
    return {uint64_t{there} * queue_.tile_samples, tile < end_ ? begin : 0, tile < end_ ? end : 0};
  }

 private:
  const PartitionQueue& queue_;
  const uint16_t* const firsts_;
  const uint32_t end_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_SHARES_CUH_
