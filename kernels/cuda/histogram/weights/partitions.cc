#include "kernels/cuda/histogram/weights/partitions.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/histogram/partitions/partitions.h"
#include "kernels/cuda/histogram/plan/guesses.h"
#include "kernels/cuda/histogram/plan/partition_kernels.h"

namespace gridfold::kernels::cuda {

namespace {

uint32_t WeightBytes(const HistogramPlan& plan) {
  return static_cast<uint32_t>(ElementSize(*plan.weight_type));
}

QueueSize QueueSizeFor(const HistogramPlan& plan, uint64_t partition_count) {
  const uint32_t tile_samples = WeightedTileSamples(WeightBytes(plan));
  return QueueSize::For(plan.array.element_count / tile_samples, partition_count, tile_samples,
                        WeightBytes(plan));
}

}  // namespace

uint64_t WeightQueueBytes(const HistogramPlan& plan) {
  if (!AreForWeightPartitions(plan.total_bin_count()) || !FitsWindows(plan)) return 0;
  return QueueSizeFor(plan, kPartitionsMax).bytes();
}

uint64_t WeightQueueBytesMax(uint64_t bin_count) {
  if (bin_count < kWeightPartitionedBinsMin) return 0;
  // The smallest tiles have the largest tables.
  constexpr uint32_t kDoubleBytes = sizeof(double);
  constexpr uint64_t kManyTiles = uint64_t{1} << 40;
  return QueueSize::For(kManyTiles, kPartitionsMax, WeightedTileSamples(kDoubleBytes), kDoubleBytes)
      .bytes();
}

absl::StatusOr<PartitionQueue> NewWeightQueue(const HistogramPlan& plan,
                                              const CountingLaunch& launch, Scratch& scratch) {
  auto queue = QueueSizeFor(plan, launch.strategy.part_count).Allocate(scratch);
  if (!queue.ok()) return queue;
  queue->partition_bits = static_cast<uint32_t>(std::countr_zero(launch.strategy.bins_per_block));
  return queue;
}

absl::Status SumByPartitions(const HistogramPlan& plan, const CountingLaunch& launch,
                             HistogramArguments arguments, cudaStream_t stream) {
  // What a block gets of a chunk is no more than it may add up: see window_counter.cuh.
  constexpr uint64_t kBlockSamplesMax = uint64_t{1} << 21;
  const uint32_t tile_samples = arguments.queue.tile_samples;
  const uint64_t chunk_tiles = std::min<uint64_t>(
      arguments.queue.tile_capacity, launch.shape.grid.x * kBlockSamplesMax / tile_samples);
  arguments.queue.partition_count = static_cast<uint32_t>(
      CeilDivide(arguments.pass_bin_count, uint64_t{launch.strategy.bins_per_block}));
  PartitionLaunch kernels{launch.kernel, launch.shape, FindSumPartitionsKernel(*plan.weight_type),
                          launch.shape};
  kernels.split_shape.shared_bytes =
      WeightedSplitBytes(launch.strategy.part_count, WeightBytes(plan));
  const uint64_t sample_bytes = ElementSize(plan.array.element_type);
  uint64_t left = arguments.sample_count;
  while (left > 0) {
    const uint64_t misalignment = reinterpret_cast<uintptr_t>(arguments.samples) % 16;
    const uint64_t head = std::min(left, (16 - misalignment) % 16 / sample_bytes);
    const uint64_t tiles_left = (left - head) / tile_samples;
    const uint64_t tiles = std::min(tiles_left, chunk_tiles);
    // What is left behind the last tile belongs to it.
    const uint64_t count = tiles == tiles_left ? left : head + tiles * tile_samples;
    arguments.sample_count = count;
    absl::Status status = LaunchChunk(kernels, arguments, tiles, stream);
    if (!status.ok()) return status;
    arguments.samples = static_cast<const std::byte*>(arguments.samples) + count * sample_bytes;
    arguments.weights =
        static_cast<const std::byte*>(arguments.weights) + count * WeightBytes(plan);
    left -= count;
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
