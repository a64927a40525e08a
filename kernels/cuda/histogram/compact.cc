#include "kernels/cuda/histogram/compact.h"

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/histogram/compact_kernels.h"

namespace gridfold::kernels::cuda {

uint64_t CompactScratchBytes(uint64_t word_count) {
  return ScratchBytes(CeilDivide(word_count, kCompactTile) * sizeof(uint64_t));
}

absl::Status LaunchCompact(const uint64_t* words, uint64_t word_count, WordKind kind,
                           const CompactOutput& output, Scratch& scratch,
                           const DeviceProperties& properties, cudaStream_t stream) {
  CompactArguments arguments{.words = words,
                             .word_count = word_count,
                             .kind = kind,
                             .tile_count = CeilDivide(word_count, kCompactTile),
                             .output = output};
  const auto tile_counts = scratch.Allocate<uint64_t>(arguments.tile_count);
  if (!tile_counts.ok()) return tile_counts.status();
  arguments.tile_counts = *tile_counts;

  const CompactKernels kernels = FindCompactKernels();
  const uint64_t blocks_max =
      static_cast<uint64_t>(properties.multiprocessor_count) *
      static_cast<uint64_t>(properties.threads_per_multiprocessor_max / kCompactThreads);
  const LaunchShape one_block{.block = dim3(kCompactThreads)};
  LaunchShape tiles = one_block;
  tiles.grid = dim3(GridStrideBlocks(arguments.tile_count, 1, blocks_max));
  absl::Status status = Launch(kernels.count_tiles, tiles, stream, arguments);
  if (status.ok()) status = Launch(kernels.scan_counts, one_block, stream, arguments);
  if (status.ok()) status = Launch(kernels.write_tiles, tiles, stream, arguments);
  return status;
}

}  // namespace gridfold::kernels::cuda
