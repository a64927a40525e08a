// The kernels of histogram/partitions/partitions.h, and the tiles that they take. Plain C++; for
// histogram/ only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_PARTITION_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_PARTITION_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/plan/guess_kind.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// Vectors that a thread reads of a tile, of all arrays together.
inline constexpr uint32_t kTileVectors = 4;

// Vectors of a thread in a tile of 4-byte samples with weights of so many bytes: as many as there
// are registers and memory for.
constexpr uint32_t WeightedTileVectors(uint32_t weight_bytes) {
  return weight_bytes == 8 ? kTileVectors / 2 : kTileVectors;
}
constexpr uint32_t WeightedTileSamples(uint32_t weight_bytes) {
  return kHistogramThreads * WeightedTileVectors(weight_bytes) * 4;
}

// Samples of a tile, or pairs of them.
constexpr uint32_t TileSamples(uint64_t element_bytes, uint32_t array_count) {
  return kHistogramThreads * (kTileVectors / array_count) *
         static_cast<uint32_t>(16 / element_bytes);
}

// Whether the samples can be split: of a type that a tile's ranks have bits for.
constexpr bool CanSplit(uint64_t element_bytes) { return element_bytes >= 4; }

// Finds the kernel that splits, for types that can be split, and one channel or two dimensions.
HistogramKernel FindSplitKernel(ElementType type, GuessKind kind);
HistogramKernel FindCountPartitionsKernel();

// Dynamic shared memory of a block that splits weighted samples: a counter for each lane of each
// partition, and of none, and the bins and weights of a tile, with room between them for those of
// samples in no partition.
constexpr uint32_t WeightedSplitBytes(uint32_t partition_count, uint32_t weight_bytes) {
  const uint32_t samples = WeightedTileSamples(weight_bytes);
  return (partition_count + 1) * 32 * uint32_t{sizeof(uint32_t)} +
         (samples + samples / 32) * uint32_t{sizeof(uint16_t)} + samples * weight_bytes;
}

// Finds the kernel that splits with weights, for the types for which FindWindowWeightsKernel has a
// kernel.
HistogramKernel FindWeightedSplitKernel(ElementType type, ElementType weight_type);
HistogramKernel FindSumPartitionsKernel(ElementType weight_type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_PARTITION_KERNELS_H_
