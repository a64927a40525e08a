// The fixed tree of floating-point products: the same multiplications in the same shape on every
// engine, whatever its number of threads, so that the result has the same bits.
//
// The elements of a group, counted from its start, are cut into tiles of kProductTile. In a tile,
// lane l (of kProductLanes) multiplies elements l, l + kProductLanes, l + 2 * kProductLanes, ... in
// this order; then neighbouring lanes are multiplied, 0 with 1, 2 with 3, ..., and their results
// again, five times. The tiles' products are multiplied pairwise in the same way, tile 0 with 1, 2
// with 3, ...; one that is left over at the end of a level moves up as it is. What is missing (the
// end of the last tile, an ignored NaN) counts as 1, which changes no bits. Each multiplication
// rounds as float64 does, with an exponent that has no bounds (scaled_product.h), and the product
// of all is rounded once to float64. So it is infinite or 0 only where that product is beyond the
// range, or where there is an infinity or a 0 among the factors, and NaN only where there is a NaN,
// or both an infinity and a 0.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_PRODUCT_TREE_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_PRODUCT_TREE_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

inline constexpr uint64_t kProductTile = 512;
inline constexpr uint64_t kProductLanes = 32;

// The factor that element x stands for.
template <FloatingElement T>
GRIDFOLD_HD inline double ProductFactor(T x, bool ignore_nan) {
  const double factor = static_cast<double>(x);
  return ignore_nan && IsNan(factor) ? 1.0 : factor;
}

// The product of one lane of the tile that starts at element `tile_begin` of a group of `size`
// elements. load(i) gives the factor of the group's element i; it may be asked for one twice.
template <class Load>
GRIDFOLD_HD inline ScaledProduct ProductOfLane(uint64_t tile_begin, uint64_t size, uint64_t lane,
                                               Load&& load) {
  const uint64_t end = tile_begin + kProductTile < size ? tile_begin + kProductTile : size;
  double plain = 1.0;
  uint64_t window_bits = 0;
  for (uint64_t i = tile_begin + lane; i < end; i += kProductLanes) {
    plain *= load(i);
    window_bits |= WindowBits(plain);
  }
  if (!IsOutsideWindow(window_bits)) return ScaledProduct::Of(plain);
  ScaledProduct product;
  GRIDFOLD_ROLLED
  for (uint64_t i = tile_begin + lane; i < end; i += kProductLanes) {
    product = product.Times(ScaledProduct::Of(load(i)));
  }
  return product;
}

// Multiplies tile products pairwise as they come, tile 0 first. Host only; a device multiplies
// level by level, which is the same tree.
class PairwiseProduct {
 public:
  void Push(ScaledProduct tile_product) {
    int level = 0;
    for (uint64_t n = count_; (n & 1) != 0; n >>= 1, ++level) {
      tile_product = levels_[level].Times(tile_product);
    }
    levels_[level] = tile_product;
    ++count_;
  }

  ScaledProduct Result() const {
    ScaledProduct product;
    bool any = false;
    for (int level = 0; level < 64; ++level) {
      if ((count_ >> level & 1) == 0) continue;
      product = any ? levels_[level].Times(product) : levels_[level];
      any = true;
    }
    return product;
  }

 private:
  ScaledProduct levels_[64];
  uint64_t count_ = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_PRODUCT_TREE_H_
