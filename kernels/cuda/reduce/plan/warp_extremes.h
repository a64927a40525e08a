// The kernel for extremes of rows that a whole warp takes, as host code sees it. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_WARP_EXTREMES_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_WARP_EXTREMES_H_

#include <cstdint>

#include "kernels/cuda/reduce/plan/kernels.h"

namespace gridfold::kernels::cuda {

struct WarpExtremeTuning {
  static constexpr uint32_t kThreads = 128;
  static constexpr uint32_t kResidentBlocks = 10;
  // Blocks of the grid for each resident one, for the hardware's scheduler to even out.
  static constexpr uint64_t kBlocksPerResident = 16;
  // The least bytes of a row of 32-bit elements, and of narrower ones. Shorter rows are taken
  // several at a time.
  static constexpr uint64_t kRowBytesMin = 1025;
  static constexpr uint64_t kNarrowRowBytesMin = 2049;
  // A lane has so many under way.
  static constexpr uint32_t kVectorsInFlight = 4;
};

// Reduces equal groups of so many bytes or more that are not left to blocks, of elements of up to
// 32 bits, where nothing but extremes is asked for. Keys of 64 bits take twice the registers, and
// are faster by way of shared memory.
using WarpExtremesKernel = void (*)(ReductionParameters, TileWork);
template <class T>
requires(sizeof(T) <= 4) WarpExtremesKernel GetWarpExtremesKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_WARP_EXTREMES_H_
