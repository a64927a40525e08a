// The kernels of histogram_partitions.h, and the tiles that they take. Plain C++; for histogram*.c*
// only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITION_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITION_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/histogram_arguments.h"
#include "kernels/cuda/histogram_block.h"
#include "kernels/cuda/histogram_guess_kind.h"
#include "kernels/element_type.h"

namespace gridfold::kernels::cuda {

// Vectors that a thread reads of a tile, of all arrays together.
inline constexpr uint32_t kTileVectors = 4;

// Samples of a tile, or pairs of them.
constexpr uint32_t TileSamples(uint64_t element_bytes, uint32_t array_count) {
  return kHistogramThreads * (kTileVectors / array_count) *
         static_cast<uint32_t>(16 / element_bytes);
}

// Whether the samples can be split: of a type that a tile's ranks have bits for.
constexpr bool CanSplit(uint64_t element_bytes) { return element_bytes >= 4; }

// For types that can be split, and one channel or two dimensions.
HistogramKernel FindSplitKernel(ElementType type, GuessKind kind);
HistogramKernel FindCountPartitionsKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITION_KERNELS_H_
