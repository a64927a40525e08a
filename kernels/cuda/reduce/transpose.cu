#include "kernels/cuda/reduce/transpose.h"

namespace gridfold::kernels::cuda {

namespace {

// A block takes a tile: reads it row by row and writes it column by column, in one run where the
// tile has all rows. Neighbouring threads have neighbouring elements both times.
template <class U>
__global__ void __launch_bounds__(kTransposeThreads) Transpose(const TransposeWork work) {
  constexpr uint32_t kElements = kTransposeTileElements / kTransposeThreads;  // Of a thread.
  // Rows are an odd number of elements apart, so that those of a column lie in different banks.
  __shared__ U tile[kTransposeTileElements + kTransposeTileElements / 2];
  const uint64_t column_tiles = (work.columns + work.tile_columns - 1) / work.tile_columns;
  const uint64_t first_row = blockIdx.x / column_tiles * work.tile_rows;
  const uint64_t first_column = blockIdx.x % column_tiles * work.tile_columns;
  const uint32_t rows = static_cast<uint32_t>(min(work.rows - first_row, uint64_t{work.tile_rows}));
  const uint32_t columns =
      static_cast<uint32_t>(min(work.columns - first_column, uint64_t{work.tile_columns}));
  const uint32_t pitch = columns | 1;

  const U* const from =
      static_cast<const U*>(work.elements) + first_row * work.columns + first_column;
  U loaded[kElements];
#pragma unroll
  for (uint32_t k = 0; k < kElements; ++k) {
    const uint32_t i = k * kTransposeThreads + threadIdx.x;
    if (i < rows * columns) loaded[k] = from[i / columns * work.columns + i % columns];
  }
#pragma unroll
  for (uint32_t k = 0; k < kElements; ++k) {
    const uint32_t i = k * kTransposeThreads + threadIdx.x;
    if (i < rows * columns) tile[i / columns * pitch + i % columns] = loaded[k];
  }
  __syncthreads();
  U* const to = static_cast<U*>(work.transposed) + first_column * work.rows + first_row;
#pragma unroll
  for (uint32_t k = 0; k < kElements; ++k) {
    const uint32_t i = k * kTransposeThreads + threadIdx.x;
    if (i < rows * columns) to[i / rows * work.rows + i % rows] = tile[i % rows * pitch + i / rows];
  }
}

}  // namespace

TransposeKernel FindTransposeKernel(uint64_t element_bytes) {
  switch (element_bytes) {
    case 1: return Transpose<uint8_t>;
    case 2: return Transpose<uint16_t>;
    case 4: return Transpose<uint32_t>;
  }
  return Transpose<uint64_t>;
}

}  // namespace gridfold::kernels::cuda
