// The second pass of histograms of very many bins: see histogram_partitions.h. Blocks take equal
// shares of the queue, partition by partition.
#include "kernels/cuda/histogram_block_sum.cuh"
#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_partition_kernels.h"
#include "kernels/cuda/histogram_turns.cuh"
#include "kernels/cuda/shared_address.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kVectorEntries = kVectorBytes / sizeof(uint16_t);

// Lanes that count a tile's entries of a partition, which are few where partitions are many.
constexpr uint32_t kGroupLanes = 8;
constexpr uint32_t kGroups = kWarpLanes / kGroupLanes;

// Entries in whose time a block looks up where a tile's entries are and waits for the first of
// them.
constexpr uint32_t kEntriesOfLookup = 128;

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
__device__ void FindPlaces(const PartitionQueue& queue, ShareOfBlock& share) {
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
__device__ void FindTile(const PartitionQueue& queue, uint32_t side, ShareOfBlock& share) {
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

// Where entries of a partition are counted, in shared memory: from `origin` on by what the queue
// has of their bins; and what is none of its entries.
struct EntryCounters {
  uint32_t origin;
  uint32_t of_others;
};

// Counts those entries of a vector, which is that of entry `first` on, that are in [begin, end):
// numbers below `begin` become great ones.
__device__ inline void CountVector(const uint4& vector, uint32_t first, uint32_t begin,
                                   uint32_t end, const EntryCounters& counters) {
#pragma unroll
  for (uint32_t j = 0; j < kVectorEntries; ++j) {
    const uint32_t id = SampleOf<uint16_t>(vector, j);
    const bool is_own = first - begin + j < end - begin;
    SharedCounters::AddAt(is_own ? counters.origin + id * static_cast<uint32_t>(sizeof(uint32_t))
                                 : counters.of_others);
  }
}

// Counts entries [begin, end) of a tile. So many lanes together, of which this is one.
__device__ inline void CountEntries(const uint16_t* tile, uint32_t begin, uint32_t end,
                                    uint32_t lane, uint32_t lanes, const EntryCounters& counters) {
  // Of the most partitions, on average, all that a group counts.
  constexpr uint32_t kAtOnce = 3;
  const auto* const vectors = reinterpret_cast<const uint4*>(tile);
  const uint32_t vectors_end = (end + kVectorEntries - 1) / kVectorEntries;
#pragma unroll 1
  for (uint32_t v = begin / kVectorEntries + lane; v < vectors_end; v += kAtOnce * lanes) {
    uint4 loaded[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      loaded[k] = v + k * lanes < vectors_end ? vectors[v + k * lanes] : uint4{};
    }
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      const uint32_t first = (v + k * lanes) * kVectorEntries;
      if (first < end) CountVector(loaded[k], first, begin, end, counters);
    }
  }
}

// Whether a tile's entries are better counted by the whole warp: those of a group's tile, of which
// the others have far fewer. All lanes of a warp.
__device__ inline bool IsForWarp(uint32_t entries) {
  constexpr uint32_t kFewEntries = 256;
  uint32_t all = entries;
#pragma unroll
  for (uint32_t distance = kGroupLanes; distance < kWarpLanes; distance *= 2) {
    all += __shfl_xor_sync(~0u, all, distance);
  }
  return entries > kFewEntries && 2 * kGroups * entries > 3 * all;
}

// Counts what the tiles [begin, end) have of a partition. All threads of the block.
__device__ void CountTiles(const PartitionQueue& queue, uint32_t partition, uint32_t begin,
                           uint32_t end, const EntryCounters& counters) {
  constexpr uint32_t kStride = kBlockWarps * kGroups;
  const uint32_t lane = threadIdx.x % kWarpLanes;
  const uint16_t* const firsts = queue.firsts + uint64_t{partition} * queue.tile_capacity;
  const auto first_of = [&](uint32_t tile) -> uint32_t { return tile < end ? firsts[tile] : 0; };
  const auto end_of = [&](uint32_t tile) -> uint32_t {
    return tile < end ? firsts[queue.tile_capacity + tile] : 0;
  };
  // Few tiles are shared out over all warps.
  uint32_t of_warp = begin + threadIdx.x / kWarpLanes;
  uint32_t tile = of_warp + lane / kGroupLanes * kBlockWarps;
  uint32_t first_entry = first_of(tile);
  uint32_t entries_end = end_of(tile);
#pragma unroll 1
  for (; of_warp < end; of_warp += kStride) {
    // Those of the next tile are looked up while this one's entries are counted.
    const uint32_t next_first = first_of(tile + kStride);
    const uint32_t next_end = end_of(tile + kStride);
    const bool is_for_warp = IsForWarp(entries_end - first_entry);
    if (!is_for_warp) {
      CountEntries(queue.ids + uint64_t{tile} * queue.tile_samples, first_entry, entries_end,
                   lane % kGroupLanes, kGroupLanes, counters);
    }
    uint32_t handed_over = __ballot_sync(~0u, is_for_warp && lane % kGroupLanes == 0);
#pragma unroll 1
    for (; handed_over != 0; handed_over &= handed_over - 1) {
      const int of = __ffs(static_cast<int>(handed_over)) - 1;
      CountEntries(queue.ids + uint64_t{__shfl_sync(~0u, tile, of)} * queue.tile_samples,
                   __shfl_sync(~0u, first_entry, of), __shfl_sync(~0u, entries_end, of), lane,
                   kWarpLanes, counters);
    }
    tile += kStride;
    first_entry = next_first;
    entries_end = next_end;
  }
}

// Adds what was counted of a partition to the totals in device memory, and clears it. All threads
// of the block.
__device__ void FlushPartition(const HistogramArguments& arguments, uint64_t first_bin,
                               uint32_t* counters) {
  auto* const totals = reinterpret_cast<unsigned long long*>(arguments.counters) + first_bin;
  for (uint32_t i = threadIdx.x; i < kPartitionBins; i += kHistogramThreads) {
    if (counters[i] == 0) continue;
    atomicAdd(&totals[i], static_cast<unsigned long long>(counters[i]));
    counters[i] = 0;
  }
}

__global__ void __launch_bounds__(kHistogramThreads)
    CountPartitions(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ ShareOfBlock share;
  auto* const counters = reinterpret_cast<uint32_t*>(shared);
  const uint32_t address = SharedAddress(counters);
  const PartitionQueue& queue = arguments.queue;
  for (uint32_t i = threadIdx.x; i < kPartitionBins; i += kHistogramThreads) counters[i] = 0;
  FindPlaces(queue, share);
  FindTile(queue, 0, share);
  FindTile(queue, 1, share);
  const uint32_t last = share.places[1].partition;
  uint32_t begin = share.tiles[0];
  for (uint32_t p = share.places[0].partition; p < queue.partition_count && p <= last; ++p) {
    const uint32_t end = p == last ? share.tiles[1] : queue.tile_count;
    if (begin < end && share.has_entries[p]) {
      const uint32_t first_bin = p << kPartitionBits;
      // Before the counters, if the queue has more of a bin than its number in the partition.
      const uint32_t origin =
          address - static_cast<uint16_t>(first_bin) * static_cast<uint32_t>(sizeof(uint32_t));
      // The counter behind those of all bins is never read.
      CountTiles(queue, p, begin, end,
                 {origin, address + kPartitionBins * static_cast<uint32_t>(sizeof(uint32_t))});
      __syncthreads();
      FlushPartition(arguments, first_bin, counters);
      __syncthreads();
    }
    begin = 0;
  }
}

}  // namespace

HistogramKernel FindCountPartitionsKernel() { return CountPartitions; }

}  // namespace gridfold::kernels::cuda
