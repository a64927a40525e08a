#include "kernels/cuda/rearrange/rearrange.h"

namespace gridfold::kernels::cuda {

namespace {

// A block takes a tile through shared memory: reads it in the order of the input and writes it in
// that of the result, so that neighbouring threads have neighbouring units both times. Of a view
// whose neighbours stay neighbours these are the same order.
template <class U>
__global__ void __launch_bounds__(kRearrangeThreads)
    Rearrange(const RearrangementTiles tiles, const void* const from, void* const to) {
  constexpr uint32_t kUnits = static_cast<uint32_t>(
      Min<uint64_t>(kRearrangementTileUnits, kRearrangementTileBytes / sizeof(U)));
  constexpr uint32_t kThreadUnits = kUnits / kRearrangeThreads;
  // The tile's rows, each the runs that stand together in the input, are an odd number of units
  // apart: runs that stand together in the result lie in different banks. Of two units or more, so
  // that a row grows by half at most.
  __shared__ U shared[kUnits + kUnits / 2];
  const Rearrangement::Dimension& across = tiles.order.dimensions[0];
  const Rearrangement::Dimension& along = tiles.order.dimensions[1];
  const bool keeps_neighbours = tiles.keeps_neighbours();
  for (uint64_t index = blockIdx.x; index < tiles.tile_count; index += gridDim.x) {
    const RearrangementTile tile = TileAt(tiles, index);
    const uint32_t run = tile.run;
    const uint32_t row = tile.extents[1] * run;     // Units that stand together in the input,
    const uint32_t column = tile.extents[0] * run;  // and in the result.
    const uint32_t pitch = row | 1;
    const uint32_t units = tile.extents[0] * row;

    const U* const source = static_cast<const U*>(from) + tile.from;
    U loaded[kThreadUnits];
#pragma unroll
    for (uint32_t k = 0; k < kThreadUnits; ++k) {
      const uint32_t i = k * kRearrangeThreads + threadIdx.x;
      if (i < units) {
        const uint32_t place = i % row;
        loaded[k] = source[int64_t{i / row} * across.from_stride +
                           int64_t{place / run} * along.from_stride + place % run];
      }
    }
#pragma unroll
    for (uint32_t k = 0; k < kThreadUnits; ++k) {
      const uint32_t i = k * kRearrangeThreads + threadIdx.x;
      if (i < units) shared[i / row * pitch + i % row] = loaded[k];
    }
    __syncthreads();
    U* const target = static_cast<U*>(to) + tile.to;
#pragma unroll
    for (uint32_t k = 0; k < kThreadUnits; ++k) {
      const uint32_t i = k * kRearrangeThreads + threadIdx.x;
      if (i < units) {
        const uint32_t x = keeps_neighbours ? i / row : i % column / run;
        const uint32_t y = keeps_neighbours ? i % row / run : i / column;
        const uint32_t place = i % run;
        target[int64_t{y} * along.to_stride + int64_t{x} * across.to_stride + place] =
            shared[x * pitch + y * run + place];
      }
    }
    __syncthreads();  // The next tile takes the same memory.
  }
}

}  // namespace

RearrangeKernel FindRearrangeKernel(uint32_t unit_bytes) {
  switch (unit_bytes) {
    case 1: return Rearrange<uint8_t>;
    case 2: return Rearrange<uint16_t>;
    case 4: return Rearrange<uint32_t>;
    case 8: return Rearrange<uint64_t>;
  }
  return Rearrange<uint4>;
}

}  // namespace gridfold::kernels::cuda
