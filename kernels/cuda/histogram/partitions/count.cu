// The second pass of histograms of very many bins: see partitions.h. Blocks take equal
// shares of the queue, partition by partition.
#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/histogram/partitions/shares.cuh"
#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/partition_kernels.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kVectorEntries = kVectorBytes / sizeof(uint16_t);

// Lanes that count a tile's entries of a partition, which are few where partitions are many.
constexpr uint32_t kGroupLanes = 8;
constexpr uint32_t kGroups = kWarpLanes / kGroupLanes;

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

// Vectors of a run that are on their way to a lane. Of the most partitions, on average, all that a
// group counts.
constexpr uint32_t kVectorsAtOnce = 3;
using VectorsOfRun = uint4[kVectorsAtOnce];

// Loads vectors v, v + lanes and so on, those that have entries of the run.
__device__ inline void LoadVectors(const PartitionQueue& queue, const EntryRun& run, uint32_t v,
                                   uint32_t lanes, VectorsOfRun& loaded) {
  const auto* const vectors = reinterpret_cast<const uint4*>(queue.ids + run.first);
#pragma unroll
  for (uint32_t k = 0; k < kVectorsAtOnce; ++k) {
    const bool is_there = (v + k * lanes) * kVectorEntries < run.end;
    loaded[k] = is_there ? vectors[v + k * lanes] : uint4{};
  }
}

__device__ inline void CountVectors(const EntryRun& run, uint32_t v, uint32_t lanes,
                                    const VectorsOfRun& loaded, const EntryCounters& counters) {
#pragma unroll
  for (uint32_t k = 0; k < kVectorsAtOnce; ++k) {
    const uint32_t first = (v + k * lanes) * kVectorEntries;
    if (first < run.end) CountVector(loaded[k], first, run.begin, run.end, counters);
  }
}

// Counts the entries of a run from those of vector v on. So many lanes together, of which this is
// one, each from a vector of its own.
__device__ inline void CountEntries(const PartitionQueue& queue, const EntryRun& run, uint32_t v,
                                    uint32_t lanes, const EntryCounters& counters) {
#pragma unroll 1
  for (; v * kVectorEntries < run.end; v += kVectorsAtOnce * lanes) {
    VectorsOfRun loaded;
    LoadVectors(queue, run, v, lanes, loaded);
    CountVectors(run, v, lanes, loaded, counters);
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
  const PartitionRuns runs(queue, partition, end);
  const auto first_vector = [&](const EntryRun& run, uint32_t lane_of_many) {
    return run.begin / kVectorEntries + lane_of_many;
  };
  // Few tiles are shared out over all warps.
  uint32_t of_warp = begin + threadIdx.x / kWarpLanes;
  uint32_t tile = of_warp + lane / kGroupLanes * kBlockWarps;
  EntryRun run = runs.Of(tile);
  EntryRun next = runs.Of(tile + kStride);
  VectorsOfRun loaded;
  uint32_t v = first_vector(run, lane % kGroupLanes);
  LoadVectors(queue, run, v, kGroupLanes, loaded);
#pragma unroll 1
  for (; of_warp < end; of_warp += kStride) {
    // While this tile's entries are counted, the first of the next are on their way, and where
    // those of the one after it are is looked up.
    tile += kStride;
    const EntryRun after_next = runs.Of(tile + kStride);
    VectorsOfRun next_loaded;
    const uint32_t next_v = first_vector(next, lane % kGroupLanes);
    LoadVectors(queue, next, next_v, kGroupLanes, next_loaded);
    const bool is_for_warp = IsForWarp(run.count());
    if (!is_for_warp) {
      CountVectors(run, v, kGroupLanes, loaded, counters);
      CountEntries(queue, run, v + kVectorsAtOnce * kGroupLanes, kGroupLanes, counters);
    }
    uint32_t handed_over = __ballot_sync(~0u, is_for_warp && lane % kGroupLanes == 0);
#pragma unroll 1
    for (; handed_over != 0; handed_over &= handed_over - 1) {
      const EntryRun of_group = run.OfLane(__ffs(static_cast<int>(handed_over)) - 1);
      CountEntries(queue, of_group, first_vector(of_group, lane), kWarpLanes, counters);
    }
    run = next;
    next = after_next;
    v = next_v;
#pragma unroll
    for (uint32_t k = 0; k < kVectorsAtOnce; ++k) loaded[k] = next_loaded[k];
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
  ForEachShare(queue, share, [&](uint32_t p, uint32_t begin, uint32_t end) {
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
  });
}

}  // namespace

HistogramKernel FindCountPartitionsKernel() { return CountPartitions; }

}  // namespace gridfold::kernels::cuda
