#include "kernels/cuda/histogram/partitions/partitions.h"

#include <algorithm>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kQueueBytesMax = uint64_t{256} << 20;

uint32_t ArrayCount(const HistogramPlan& plan) { return plan.two_dimensional ? 2 : 1; }

uint32_t TileSamplesOf(const HistogramPlan& plan) {
  return TileSamples(ElementSize(plan.array.element_type), ArrayCount(plan));
}

uint64_t PartitionCount(uint64_t bin_count) {
  return CeilDivide(bin_count, uint64_t{1} << kPartitionBits);
}

uint64_t TilesMax(uint32_t tile_samples, uint32_t weight_bytes) {
  return kQueueBytesMax / (tile_samples * (sizeof(uint16_t) + weight_bytes));
}

}  // namespace

QueueSize QueueSize::For(uint64_t tile_count, uint64_t partition_count, uint32_t tile_samples,
                         uint32_t weight_bytes) {
  const uint64_t tiles = std::max<uint64_t>(tile_count, 1);
  const uint64_t chunks = CeilDivide(tiles, TilesMax(tile_samples, weight_bytes));
  return {CeilDivide(tiles, chunks), partition_count, tile_samples, weight_bytes};
}

uint64_t QueueSize::bytes() const {
  return ScratchBytes(tiles * tile_samples * sizeof(uint16_t)) +
         ScratchBytes(tiles * (partition_count + 1) * sizeof(uint16_t)) +
         ScratchBytes(partition_count * kQueueSlices * sizeof(uint32_t)) +
         ScratchBytes(tiles * tile_samples * weight_bytes);
}

absl::StatusOr<PartitionQueue> QueueSize::Allocate(Scratch& scratch) const {
  const auto ids = scratch.Allocate<uint16_t>(tiles * tile_samples);
  if (!ids.ok()) return ids.status();
  const auto firsts = scratch.Allocate<uint16_t>(tiles * (partition_count + 1));
  if (!firsts.ok()) return firsts.status();
  const auto weights = scratch.Allocate<uint32_t>(partition_count * kQueueSlices);
  if (!weights.ok()) return weights.status();
  const auto entry_weights = scratch.Allocate<std::byte>(tiles * tile_samples * weight_bytes);
  if (!entry_weights.ok()) return entry_weights.status();
  return PartitionQueue{.ids = *ids,
                        .firsts = *firsts,
                        .weights = *weights,
                        .entry_weights = *entry_weights,
                        .partition_count = static_cast<uint32_t>(partition_count),
                        .tile_samples = tile_samples,
                        .tile_capacity = static_cast<uint32_t>(tiles)};
}

absl::Status LaunchChunk(const PartitionLaunch& launch, HistogramArguments arguments,
                         uint64_t tile_count, cudaStream_t stream) {
  PartitionQueue& queue = arguments.queue;
  queue.tile_count = static_cast<uint32_t>(tile_count);
  queue.slice_tiles =
      static_cast<uint32_t>(CeilDivide(std::max<uint64_t>(tile_count, 1), kQueueSlices));
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(
      queue.weights, 0, uint64_t{queue.partition_count} * kQueueSlices * sizeof(uint32_t), stream));
  LaunchShape split = launch.split_shape;
  split.grid.x = std::clamp<uint32_t>(queue.tile_count, 1, split.grid.x);
  const absl::Status status = Launch(launch.split, split, stream, arguments);
  if (!status.ok() || queue.tile_count == 0) return status;
  return Launch(launch.take, launch.take_shape, stream, arguments);
}

uint64_t PartitionScratchBytes(const HistogramPlan& plan) {
  const uint64_t bin_count = plan.total_bin_count();
  if (!IsForPartitions(bin_count) || !CanSplit(ElementSize(plan.array.element_type))) return 0;
  const uint32_t tile_samples = TileSamplesOf(plan);
  return QueueSize::For(plan.array.element_count / tile_samples, PartitionCount(bin_count),
                        tile_samples)
      .bytes();
}

uint64_t PartitionScratchBytesMax(uint64_t bin_count) {
  if (bin_count <= kPartitionedBinsMin) return 0;
  // The smallest tiles have the largest tables.
  const uint32_t tile_samples = TileSamples(sizeof(double), 2);
  return QueueSize::For(TilesMax(tile_samples, 0), kPartitionsMax, tile_samples).bytes();
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
  const QueueSize size = QueueSize::For(tile_count, launch.strategy.part_count, tile_samples);
  const auto queue = size.Allocate(scratch);
  if (!queue.ok()) return queue.status();
  PartitionLaunch kernels{launch.kernel, launch.shape, FindCountPartitionsKernel(), launch.shape};
  kernels.take_shape.shared_bytes = kPartitionCountersBytes;
  HistogramArguments chunk = arguments;
  chunk.queue = *queue;
  do {
    const uint64_t tiles = std::min(size.tiles, tile_count - chunk.queue.first_tile);
    if (absl::Status status = LaunchChunk(kernels, chunk, tiles, stream); !status.ok()) {
      return status;
    }
    chunk.queue.first_tile += tiles;
  } while (chunk.queue.first_tile < tile_count);
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
