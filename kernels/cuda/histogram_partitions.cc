#include "kernels/cuda/histogram_partitions.h"

#include <algorithm>

#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/launch.h"

namespace gridfold::kernels::cuda {

namespace {

// The queue's memory, in which arrays are counted chunk by chunk: no more than what sums of weights
// of so many bins have (histogram_weights.cc), so that lanes do not grow for it.
constexpr uint64_t kQueueBytesMax = uint64_t{256} << 20;

uint32_t ArrayCount(const HistogramPlan& plan) { return plan.two_dimensional ? 2 : 1; }

uint32_t TileSamplesOf(const HistogramPlan& plan) {
  return TileSamples(ElementSize(plan.array.element_type), ArrayCount(plan));
}

// Tiles of the largest chunk, of `tile_count` in all.
uint64_t ChunkTiles(uint64_t tile_count, uint32_t tile_samples) {
  const uint64_t most = kQueueBytesMax / (tile_samples * sizeof(uint16_t));
  const uint64_t chunks = CeilDivide(std::max<uint64_t>(tile_count, 1), most);
  return CeilDivide(std::max<uint64_t>(tile_count, 1), chunks);
}

uint64_t PartitionCount(uint64_t bin_count) {
  return CeilDivide(bin_count, uint64_t{1} << kPartitionBits);
}

// Words of the three parts of a queue.
struct QueueSize {
  QueueSize(uint64_t chunk_tiles, uint64_t partition_count, uint32_t tile_samples)
      : ids(chunk_tiles * tile_samples),
        firsts(chunk_tiles * (partition_count + 1)),
        weights(partition_count * kQueueSlices) {}

  uint64_t bytes() const {
    return ScratchBytes(ids * sizeof(uint16_t)) + ScratchBytes(firsts * sizeof(uint16_t)) +
           ScratchBytes(weights * sizeof(uint32_t));
  }

  uint64_t ids;
  uint64_t firsts;
  uint64_t weights;
};

absl::Status CountChunk(const CountingLaunch& launch, const HistogramArguments& arguments,
                        cudaStream_t stream) {
  const PartitionQueue& queue = arguments.queue;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(
      queue.weights, 0, uint64_t{queue.partition_count} * kQueueSlices * sizeof(uint32_t), stream));
  LaunchShape split = launch.shape;
  split.grid.x = std::clamp<uint32_t>(queue.tile_count, 1, launch.shape.grid.x);
  absl::Status status = Launch(launch.kernel, split, stream, arguments);
  if (!status.ok() || queue.tile_count == 0) return status;
  LaunchShape count = launch.shape;
  count.shared_bytes = kPartitionCountersBytes;
  return Launch(FindCountPartitionsKernel(), count, stream, arguments);
}

}  // namespace

uint64_t PartitionScratchBytes(const HistogramPlan& plan) {
  const uint64_t bin_count = plan.total_bin_count();
  if (!IsForPartitions(bin_count) || !CanSplit(ElementSize(plan.array.element_type))) return 0;
  const uint32_t tile_samples = TileSamplesOf(plan);
  const uint64_t tiles = ChunkTiles(plan.array.element_count / tile_samples, tile_samples);
  return QueueSize(tiles, PartitionCount(bin_count), tile_samples).bytes();
}

uint64_t PartitionScratchBytesMax(uint64_t bin_count) {
  if (bin_count <= kPartitionedBinsMin) return 0;
  // The smallest tiles have the largest tables.
  const uint32_t tile_samples = TileSamples(sizeof(double), 2);
  const uint64_t most = kQueueBytesMax / (tile_samples * sizeof(uint16_t));
  return QueueSize(most, kPartitionsMax, tile_samples).bytes();
}

absl::Status CountByPartitions(const HistogramPlan& plan, const CountingLaunch& launch,
                               const HistogramArguments& arguments, Scratch& scratch,
                               cudaStream_t stream) {
  const uint64_t element_bytes = ElementSize(plan.array.element_type);
  const uint32_t tile_samples = TileSamplesOf(plan);
  const uint64_t head = std::min<uint64_t>(
      plan.array.element_count,
      (16 - reinterpret_cast<uintptr_t>(arguments.samples) % 16) % 16 / element_bytes);
  const uint64_t tile_count = (plan.array.element_count - head) / tile_samples;
  const uint64_t chunk_tiles = ChunkTiles(tile_count, tile_samples);
  const QueueSize size(chunk_tiles, launch.strategy.part_count, tile_samples);
  const auto ids = scratch.Allocate<uint16_t>(size.ids);
  if (!ids.ok()) return ids.status();
  const auto firsts = scratch.Allocate<uint16_t>(size.firsts);
  if (!firsts.ok()) return firsts.status();
  const auto weights = scratch.Allocate<uint32_t>(size.weights);
  if (!weights.ok()) return weights.status();

  HistogramArguments chunk = arguments;
  chunk.queue = {.ids = *ids,
                 .firsts = *firsts,
                 .weights = *weights,
                 .partition_count = launch.strategy.part_count,
                 .tile_samples = tile_samples,
                 .tile_capacity = static_cast<uint32_t>(chunk_tiles)};
  do {
    chunk.queue.tile_count =
        static_cast<uint32_t>(std::min<uint64_t>(chunk_tiles, tile_count - chunk.queue.first_tile));
    chunk.queue.slice_tiles =
        static_cast<uint32_t>(CeilDivide(std::max(chunk.queue.tile_count, 1u), kQueueSlices));
    if (absl::Status status = CountChunk(launch, chunk, stream); !status.ok()) return status;
    chunk.queue.first_tile += chunk.queue.tile_count;
  } while (chunk.queue.first_tile < tile_count);
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
