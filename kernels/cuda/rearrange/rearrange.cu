#include "kernels/cuda/rearrange/rearrange.h"

namespace gridfold::kernels::cuda {

namespace {

// A block takes a tile through shared memory: reads it in the order of the input and writes it in
// that of the result, so that neighbouring threads have neighbouring units both times. kAreSingle
// says that runs have one unit.
template <class U, bool kAreSingle>
__global__ void __launch_bounds__(kRearrangeThreads)
    TurnTiles(const RearrangementTiles tiles, const void* const from, void* const to) {
  constexpr uint32_t kUnits = static_cast<uint32_t>(
      Min<uint64_t>(kRearrangementTileUnits, kRearrangementTileBytes / sizeof(U)));
  constexpr uint32_t kThreadUnits = kUnits / kRearrangeThreads;
  // The tile's rows, each the runs that stand together in the input, are an odd number of units
  // apart: runs that stand together in the result lie in different banks. Of two units or more, so
  // that a row grows by half at most.
  __shared__ U shared[kUnits + kUnits / 2];
  const Rearrangement::Dimension& across = tiles.order.dimensions[0];
  const Rearrangement::Dimension& along = tiles.order.dimensions[1];
  for (uint64_t index = blockIdx.x; index < tiles.tile_count; index += gridDim.x) {
    const RearrangementTile tile = TileAt(tiles, index);
    const uint32_t run = kAreSingle ? 1 : tile.run;
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
        const uint32_t x = i % column / run;
        const uint32_t y = i / column;
        const uint32_t place = i % run;
        target[int64_t{y} * along.to_stride + int64_t{x} * across.to_stride + place] =
            shared[x * pitch + y * run + place];
      }
    }
    __syncthreads();  // The next tile takes the same memory.
  }
}

// Where a row's unit is, from its first one on.
__device__ __forceinline__ int64_t PlaceInRow(uint32_t unit, uint32_t run, int64_t stride) {
  if (run == 1) return unit * stride;
  if (unit < run) return unit;  // Of most rows there is one run.
  return unit / run * stride + unit % run;
}

// Units of a thread that are on their way together.
constexpr uint32_t kBatchUnits = 8;

// A block copies the rows of a tile, whose units stand in the same order in both arrays: as many
// rows at a time as it has threads for, a power of two of them for each.
template <class U>
__global__ void __launch_bounds__(kRearrangeThreads)
    CopyRows(const RearrangementTiles tiles, const void* const from, void* const to) {
  const Rearrangement::Dimension& across = tiles.order.dimensions[0];
  const Rearrangement::Dimension& along = tiles.order.dimensions[1];
  uint32_t row_threads = 1;
  while (row_threads < Min(tiles.extents[1] * tiles.run_tile, kRearrangeThreads)) row_threads *= 2;
  const uint32_t rows = kRearrangeThreads / row_threads;
  const uint32_t first = threadIdx.x & (row_threads - 1);
  for (uint64_t index = blockIdx.x; index < tiles.tile_count; index += gridDim.x) {
    const RearrangementTile tile = TileAt(tiles, index);
    const U* const source = static_cast<const U*>(from) + tile.from;
    U* const target = static_cast<U*>(to) + tile.to;
    const uint32_t row = tile.extents[1] * tile.run;
    uint32_t x = threadIdx.x / row_threads;
    uint32_t unit = first;
    while (x < tile.extents[0]) {
      U loaded[kBatchUnits];
      int64_t places[kBatchUnits];
#pragma unroll
      for (uint32_t k = 0; k < kBatchUnits; ++k) {
        places[k] = -1;
        if (x < tile.extents[0] && unit < row) {
          loaded[k] =
              source[x * across.from_stride + PlaceInRow(unit, tile.run, along.from_stride)];
          places[k] = x * across.to_stride + PlaceInRow(unit, tile.run, along.to_stride);
        }
        unit += row_threads;
        if (unit >= row) {
          unit = first;
          x += rows;
        }
      }
#pragma unroll
      for (uint32_t k = 0; k < kBatchUnits; ++k) {
        if (places[k] >= 0) target[places[k]] = loaded[k];
      }
    }
  }
}

template <class U>
RearrangeKernel Choose(const RearrangementTiles& tiles) {
  if (tiles.keeps_neighbours()) return CopyRows<U>;
  return tiles.order.run == 1 ? TurnTiles<U, true> : TurnTiles<U, false>;
}

}  // namespace

RearrangeKernel ChooseRearrangeKernel(const RearrangementTiles& tiles) {
  switch (tiles.unit_bytes) {
    case 1: return Choose<uint8_t>(tiles);
    case 2: return Choose<uint16_t>(tiles);
    case 4: return Choose<uint32_t>(tiles);
    case 8: return Choose<uint64_t>(tiles);
  }
  return Choose<uint4>(tiles);
}

}  // namespace gridfold::kernels::cuda
