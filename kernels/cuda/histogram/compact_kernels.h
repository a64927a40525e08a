// The kernels of compact.h and their parameters. For compact.c* only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/histogram/compact_values.h"

namespace gridfold::kernels::cuda {

inline constexpr int kCompactThreads = 256;
inline constexpr int kCompactItems = 8;
inline constexpr int kCompactTile = kCompactThreads * kCompactItems;

struct CompactArguments {
  const uint64_t* words = nullptr;
  uint64_t word_count = 0;
  WordKind kind = WordKind::kInteger;
  // Non-zero words of each tile; after ScanTileCounts, those of all tiles before it.
  uint64_t* tile_counts = nullptr;
  uint64_t tile_count = 0;
  CompactOutput output = {};
};

using CompactKernel = void (*)(CompactArguments);

struct CompactKernels {
  CompactKernel count_tiles;  // Grid-stride over tiles.
  CompactKernel scan_counts;  // One block; also writes output.count.
  CompactKernel write_tiles;  // Grid-stride over tiles.
};
CompactKernels FindCompactKernels();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_KERNELS_H_
