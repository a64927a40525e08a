// Floating-point products along the fixed tree of numerics/arithmetic/product_tree.h, for one
// thread.
//
// Lanes are multiplied side by side, as plain float64 numbers where none of their products leaves
// the window of numerics/arithmetic/scaled_product.h, and with their exponents apart where one
// does.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_PRODUCT_KERNELS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_PRODUCT_KERNELS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/product_tree.h"
#include "kernels/numerics/arithmetic/scaled_product.h"

namespace gridfold::kernels::cpu {

// Columns whose lanes are multiplied together; the fractions of their lanes take 16 KiB.
inline constexpr uint32_t kProductColumns = 64;

namespace product_internal {

// Lane l of column c is at l * columns + c.
template <uint32_t kColumnsMax>
struct Lanes {
  double fractions[kProductLanes * kColumnsMax];
  int64_t exponents[kProductLanes * kColumnsMax];
};

// Multiplies `count` lanes by the elements of a row. Returns bits for IsOutsideWindow() where
// exponents are not kept apart.
template <bool kApart, FloatingElement T>
inline uint64_t MultiplyRow(const std::byte* row, uint64_t count, bool ignore_nan,
                            double* fractions, int64_t* exponents) {
  uint64_t window_bits = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double factor = ProductFactor(LoadUnaligned<T>(row, i), ignore_nan);
    if constexpr (kApart) {
      // A lane has kProductTile / kProductLanes of these fractions, which do not leave the range.
      const ScaledProduct scaled = ScaledProduct::Of(factor).Normalised();
      fractions[i] *= scaled.fraction;
      exponents[i] += scaled.exponent;
    } else {
      fractions[i] *= factor;
      window_bits |= WindowBits(fractions[i]);
    }
  }
  return window_bits;
}

// Fills `lanes` with the products of a tile. multiply(apart) multiplies them by all rows and
// returns bits for IsOutsideWindow(); `apart` is std::true_type where exponents are kept apart.
// Returns whether they are; else they are 0.
template <uint32_t kColumnsMax, class Multiply>
inline bool FillLanes(uint64_t lane_count, Lanes<kColumnsMax>& lanes, Multiply multiply) {
  std::fill_n(lanes.fractions, lane_count, 1.0);
  if (!IsOutsideWindow(multiply(std::false_type()))) return false;
  std::fill_n(lanes.fractions, lane_count, 1.0);
  std::fill_n(lanes.exponents, lane_count, 0);
  multiply(std::true_type());
  return true;
}

// Multiplies neighbouring lanes, five times, from `from` to `to`; may be the same. The products are
// left in the columns' first lanes. Returns bits for IsOutsideWindow().
inline uint64_t FoldFractions(uint32_t columns, const double* from, double* to) {
  uint64_t window_bits = 0;
  for (uint64_t count = kProductLanes / 2; count >= 1; count /= 2, from = to) {
    for (uint64_t lane = 0; lane < count; ++lane) {
      const double* const pair = from + 2 * lane * columns;
      for (uint32_t c = 0; c < columns; ++c) {
        const double product = pair[c] * pair[columns + c];
        to[lane * columns + c] = product;
        window_bits |= WindowBits(product);
      }
    }
  }
  return window_bits;
}

// Sets products[c] to that of the column's lanes, neighbours first.
template <uint32_t kColumnsMax>
inline void FoldLanes(bool is_apart, uint32_t columns, Lanes<kColumnsMax>& lanes,
                      ScaledProduct* products) {
  if (!is_apart) {
    double folded[kProductLanes / 2 * kColumnsMax];
    if (!IsOutsideWindow(FoldFractions(columns, lanes.fractions, folded))) {
      for (uint32_t c = 0; c < columns; ++c) products[c] = ScaledProduct::Of(folded[c]);
      return;
    }
    std::fill_n(lanes.exponents, kProductLanes * columns, 0);
  }
  for (uint32_t c = 0; c < columns; ++c) products[c].exponent = 0;
  for (uint64_t lane = 0; lane < kProductLanes; ++lane) {
    double* const fractions = lanes.fractions + lane * columns;
    for (uint32_t c = 0; c < columns; ++c) {
      const ScaledProduct normalised =
          ScaledProduct{fractions[c], lanes.exponents[lane * columns + c]}.Normalised();
      fractions[c] = normalised.fraction;  // kProductLanes of these stay within the range.
      products[c].exponent += normalised.exponent;
    }
  }
  FoldFractions(columns, lanes.fractions, lanes.fractions);
  for (uint32_t c = 0; c < columns; ++c) products[c].fraction = lanes.fractions[c];
}

}  // namespace product_internal

// The node of the tree over `element_count` consecutive elements that start at a tile.
template <FloatingElement T>
inline ScaledProduct ProductOfPiece(const std::byte* data, uint64_t element_count,
                                    bool ignore_nan) {
  using namespace product_internal;  // NOLINT
  PairwiseProduct product;
  Lanes<1> lanes;
  for (uint64_t begin = 0; begin < element_count; begin += kProductTile) {
    const uint64_t end = std::min(begin + kProductTile, element_count);
    const bool is_apart = FillLanes(kProductLanes, lanes, [&](auto apart) {
      uint64_t window_bits = 0;
      uint64_t i = begin;
      for (; i + kProductLanes <= end; i += kProductLanes) {
        window_bits |= MultiplyRow<apart(), T>(data + i * sizeof(T), kProductLanes, ignore_nan,
                                               lanes.fractions, lanes.exponents);
      }
      return window_bits | MultiplyRow<apart(), T>(data + i * sizeof(T), end - i, ignore_nan,
                                                   lanes.fractions, lanes.exponents);
    });
    ScaledProduct of_tile;
    FoldLanes(is_apart, 1, lanes, &of_tile);
    product.Push(of_tile);
  }
  return product.Result();
}

// The product of one tile of each of `columns` columns, at most kProductColumns: up to kProductTile
// rows.
template <FloatingElement T>
inline void ProductOfTileColumns(const std::byte* data, size_t stride_bytes, uint64_t rows,
                                 uint32_t columns, bool ignore_nan, ScaledProduct* products) {
  using namespace product_internal;  // NOLINT
  Lanes<kProductColumns> lanes;
  const bool is_apart = FillLanes(kProductLanes * columns, lanes, [&](auto apart) {
    uint64_t window_bits = 0;
    for (uint64_t r = 0; r < rows; ++r) {
      const uint64_t first = r % kProductLanes * columns;
      window_bits |= MultiplyRow<apart(), T>(data + r * stride_bytes, columns, ignore_nan,
                                             lanes.fractions + first, lanes.exponents + first);
    }
    return window_bits;
  });
  FoldLanes(is_apart, columns, lanes, products);
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_PRODUCT_KERNELS_H_
