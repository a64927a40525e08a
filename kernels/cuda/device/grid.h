// Grid arithmetic, in 64 bits: array sizes pass 2^31, grid dimensions do not. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_GRID_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_GRID_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/min_max.h"

namespace gridfold::kernels::cuda {

// The least q with q * b >= a, without overflow for any a. Requires b > 0.
constexpr uint64_t CeilDivide(uint64_t a, uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// The least multiple of b that is not smaller than a.
constexpr uint64_t RoundUp(uint64_t a, uint64_t b) { return CeilDivide(a, b) * b; }

// The largest multiple of b that is not larger than a.
constexpr uint32_t RoundDown(uint32_t a, uint32_t b) { return a / b * b; }

// Blocks for a grid-stride loop over `items` of which a block takes `items_per_block` a turn: no
// more than `blocks_max`, and never 0, since an empty grid is an error and an empty loop is not.
constexpr uint32_t GridStrideBlocks(uint64_t items, uint64_t items_per_block, uint64_t blocks_max) {
  const uint64_t wanted = CeilDivide(items, items_per_block);
  const uint64_t limit = Clamp<uint64_t>(blocks_max, 1, 0x7FFF'FFFF);
  return static_cast<uint32_t>(Clamp<uint64_t>(wanted, 1, limit));
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_GRID_H_
