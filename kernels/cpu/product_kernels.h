// Floating-point products along the fixed tree of numerics/product_tree.h, for one thread.
#ifndef GRIDFOLD_KERNELS_CPU_PRODUCT_KERNELS_H_
#define GRIDFOLD_KERNELS_CPU_PRODUCT_KERNELS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/numerics/element.h"
#include "kernels/numerics/product_tree.h"

namespace gridfold::kernels {

// Multiplies neighbouring lanes, five times: lanes[l * columns + c] for l in [0, kProductLanes).
// The products are left in lanes[c].
inline void FoldProductLanes(double* lanes, uint32_t columns) {
  for (uint64_t count = kProductLanes / 2; count >= 1; count /= 2) {
    for (uint64_t lane = 0; lane < count; ++lane) {
      for (uint32_t c = 0; c < columns; ++c) {
        lanes[lane * columns + c] =
            lanes[2 * lane * columns + c] * lanes[(2 * lane + 1) * columns + c];
      }
    }
  }
}

// The node of the tree over `element_count` consecutive elements that start at a tile.
template <FloatingElement T>
inline double ProductOfPiece(const std::byte* data, uint64_t element_count, bool ignore_nan) {
  PairwiseProduct product;
  for (uint64_t begin = 0; begin < element_count; begin += kProductTile) {
    const uint64_t end = std::min(begin + kProductTile, element_count);
    double lanes[kProductLanes];
    std::fill_n(lanes, kProductLanes, 1.0);
    for (uint64_t i = begin; i < end; i += kProductLanes) {
      const uint64_t width = std::min(kProductLanes, end - i);
      for (uint64_t lane = 0; lane < width; ++lane) {
        lanes[lane] *= ProductFactor(LoadUnaligned<T>(data, i + lane), ignore_nan);
      }
    }
    FoldProductLanes(lanes, 1);
    product.Push(lanes[0]);
  }
  return product.Result();
}

// Columns whose lanes are multiplied together; their lanes take 16 KiB.
inline constexpr uint32_t kProductColumns = 64;

// The product of one tile of each of `columns` columns, at most kProductColumns: up to kProductTile
// rows.
template <FloatingElement T>
inline void ProductOfTileColumns(const std::byte* data, size_t stride_bytes, uint64_t rows,
                                 uint32_t columns, bool ignore_nan, double* products) {
  double lanes[kProductLanes * kProductColumns];
  std::fill_n(lanes, kProductLanes * columns, 1.0);
  for (uint64_t r = 0; r < rows; ++r) {
    const std::byte* row = data + r * stride_bytes;
    double* row_lanes = lanes + r % kProductLanes * columns;
    for (uint32_t c = 0; c < columns; ++c) {
      row_lanes[c] *= ProductFactor(LoadUnaligned<T>(row, c), ignore_nan);
    }
  }
  FoldProductLanes(lanes, columns);
  std::copy_n(lanes, columns, products);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_PRODUCT_KERNELS_H_
