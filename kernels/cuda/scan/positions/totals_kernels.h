// The kernels that find the totals of a part's blocks of tiles (numerics/scans/tree.h) without
// scanning them, and what their launches need to know. For totals.c* only.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/scan/base/arguments.h"

namespace gridfold::kernels::cuda {

// Warps of a block of threads; each takes tiles by itself.
inline constexpr int kTotalsWarps = 8;
// Blocks of threads that a multiprocessor holds at once.
inline constexpr int kTotalsBlocks = 3;

// Totals are an operator's Values. Tiles are those of the look-back scan of the same elements.
struct ScanTotalsKernels {
  // The totals of all tiles,
  void (*tiles)(ScanArguments, uint32_t tile_count, void* tile_totals);
  // and from these the totals of each kScanTilesPerBlock of them; a warp takes a block of tiles.
  void (*blocks)(uint32_t tile_count, const void* tile_totals, void* block_totals);
  uint32_t tile_size;     // Elements.
  uint32_t shared_bytes;  // Of a block of `tiles`.
  uint32_t value_bytes;
};

// The kernels for an element type, of an operation that OperatorOf gives. `accumulator_output` as
// of FindLookBackScanKernel.
template <ScanOperation kOperation>
ScanTotalsKernels FindScanTotalsKernels(ElementType type, bool accumulator_output);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_KERNELS_H_
