// The second pass of histograms of very many bins: see histogram_partitions.h. Blocks take equal
// shares of the queue, partition by partition.
#include "kernels/cuda/histogram_block_sum.cuh"
#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_partitions.h"
#include "kernels/cuda/histogram_turns.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kVectorEntries = kVectorBytes / sizeof(uint16_t);

// Entries in whose time a block looks up where a tile's entries are and waits for the first of
// them.
constexpr uint32_t kEntriesOfLookup = 128;

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

// Finds the block's share of the work: of entries, and of tiles whose entries are looked up. Within
// a slice of tiles entries are taken as evenly spread: whatever the truth, neighbours agree on the
// cut between them. All threads of the block.
__device__ void FindShare(const PartitionQueue& queue, ShareOfBlock& share) {
  constexpr uint32_t kItems = kPartitionsMax * kQueueSlices / kHistogramThreads;
  const uint32_t item_count = queue.partition_count * kQueueSlices;
  if (threadIdx.x == 0) share.begin = share.end = {queue.partition_count, 0};
  if (threadIdx.x < kPartitionsMax) share.partition_totals[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t first_item = threadIdx.x * kItems;
  uint32_t weights[kItems];
  uint32_t sum = 0;
  uint32_t entries = 0;
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k) {
    weights[k] = first_item + k < item_count ? queue.weights[first_item + k] : 0;
    entries += weights[k];
    if (weights[k] != 0) weights[k] += queue.slice_tiles * kEntriesOfLookup;
    sum += weights[k];
  }
  if (entries != 0) atomicAdd(&share.partition_totals[first_item / kQueueSlices], entries);
  const BlockSums sums = BlockSums::Of(sum, share.warp_sums);
  for (uint32_t side = 0; side < 2; ++side) {
    const uint32_t cut =
        static_cast<uint32_t>(uint64_t{sums.total} * (blockIdx.x + side) / gridDim.x);
    uint32_t before = sums.before;
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      if (cut >= before && cut - before < weights[k]) {
        const uint32_t slice = (first_item + k) % kQueueSlices;
        const uint64_t within = uint64_t{cut - before} * queue.slice_tiles / weights[k];
        (side == 0 ? share.begin : share.end) = {
            (first_item + k) / kQueueSlices,
            slice * queue.slice_tiles + static_cast<uint32_t>(within)};
      }
      before += weights[k];
    }
  }
  __syncthreads();
}

// Counts those entries of a vector, which is that of entry `first` on, that are in [begin, end):
// numbers below `begin` become great ones. The counter behind those of all bins is never read.
__device__ inline void CountVector(const uint4& vector, uint32_t first, uint32_t begin,
                                   uint32_t end, uint32_t counters) {
#pragma unroll
  for (uint32_t j = 0; j < kVectorEntries; ++j) {
    const uint32_t id = SampleOf<uint16_t>(vector, j);
    const bool is_own = first - begin + j < end - begin;
    SharedCounters::AddAt(counters +
                          (is_own ? id : kPartitionBins) * static_cast<uint32_t>(sizeof(uint32_t)));
  }
}

// Counts entries [begin, end) of a tile. So many lanes together, of which this is one.
__device__ inline void CountEntries(const uint16_t* tile, uint32_t begin, uint32_t end,
                                    uint32_t lane, uint32_t lanes, uint32_t counters) {
  const auto* const vectors = reinterpret_cast<const uint4*>(tile);
  const uint32_t vectors_end = (end + kVectorEntries - 1) / kVectorEntries;
#pragma unroll 1
  for (uint32_t v = begin / kVectorEntries + lane; v < vectors_end; v += 2 * lanes) {
    const bool has_second = v + lanes < vectors_end;
    const uint4 first = vectors[v];
    const uint4 second = has_second ? vectors[v + lanes] : uint4{};
    CountVector(first, v * kVectorEntries, begin, end, counters);
    if (has_second) CountVector(second, (v + lanes) * kVectorEntries, begin, end, counters);
  }
}

// Counts what the tiles [begin, end) have of a partition: so many lanes each of them. All threads
// of the block.
__device__ void CountTiles(const PartitionQueue& queue, uint32_t partition, uint32_t begin,
                           uint32_t end, uint32_t lanes, uint32_t counters) {
  const uint32_t lane = threadIdx.x % lanes;
  const uint32_t stride = kHistogramThreads / lanes;
  const uint16_t* const firsts = queue.firsts + uint64_t{partition} * queue.tile_capacity;
  const auto first_of = [&](uint32_t tile) -> uint32_t { return tile < end ? firsts[tile] : 0; };
  const auto end_of = [&](uint32_t tile) -> uint32_t {
    return tile < end ? firsts[queue.tile_capacity + tile] : 0;
  };
  uint32_t tile = begin + threadIdx.x / lanes;
  uint32_t first_entry = first_of(tile);
  uint32_t entries_end = end_of(tile);
  while (tile < end) {
    // Those of the next tile are looked up while this one's entries are counted.
    const uint32_t next = tile + stride;
    const uint32_t next_first = first_of(next);
    const uint32_t next_end = end_of(next);
    CountEntries(queue.ids + uint64_t{tile} * queue.tile_samples, first_entry, entries_end, lane,
                 lanes, counters);
    tile = next;
    first_entry = next_first;
    entries_end = next_end;
  }
}

// How many lanes count a tile's entries of a partition that has so many in all tiles: fewer, where
// most of a warp would have none.
__device__ uint32_t LanesForTile(const PartitionQueue& queue, uint32_t partition_total) {
  constexpr uint32_t kFewLanes = 8;
  constexpr uint32_t kFewEntries = 512;
  return partition_total / kFewEntries < queue.tile_count ? kFewLanes : kWarpLanes;
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
    CountTiles(queue, cut.partition, cut.tile, tiles_end,
               LanesForTile(queue, share.partition_totals[cut.partition]), address);
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
