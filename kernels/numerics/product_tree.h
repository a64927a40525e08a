// The fixed tree of floating-point products: the same multiplications in the same shape on every
// engine, whatever its number of threads, so that the result has the same bits.
//
// The elements of a group, counted from its start, are cut into tiles of kProductTile. In a tile,
// lane l (of kProductLanes) multiplies elements l, l + kProductLanes, l + 2 * kProductLanes, ... in
// this order; then neighbouring lanes are multiplied, 0 with 1, 2 with 3, ..., and their results
// again, five times. The tiles' products are multiplied pairwise in the same way, tile 0 with 1, 2
// with 3, ...; one that is left over at the end of a level moves up as it is. What is missing (the
// end of the last tile, an ignored NaN) counts as 1, which changes no bits. All of it in float64.
#ifndef GRIDFOLD_KERNELS_NUMERICS_PRODUCT_TREE_H_
#define GRIDFOLD_KERNELS_NUMERICS_PRODUCT_TREE_H_

#include <bit>
#include <cstdint>

#include "kernels/numerics/element.h"
#include "kernels/numerics/host_device.h"

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
// elements. load(i) gives the factor of the group's element i.
template <class Load>
GRIDFOLD_HD inline double ProductOfLane(uint64_t tile_begin, uint64_t size, uint64_t lane,
                                        Load&& load) {
  const uint64_t end = tile_begin + kProductTile < size ? tile_begin + kProductTile : size;
  double product = 1.0;
  for (uint64_t i = tile_begin + lane; i < end; i += kProductLanes) product *= load(i);
  return product;
}

// Multiplies tile products pairwise as they come, tile 0 first. Host only; a device multiplies
// level by level, which is the same tree.
class PairwiseProduct {
 public:
  void Push(double tile_product) {
    int level = 0;
    for (uint64_t n = count_; (n & 1) != 0; n >>= 1, ++level) {
      tile_product = levels_[level] * tile_product;
    }
    levels_[level] = tile_product;
    ++count_;
  }

  double Result() const {
    double product = 1.0;
    bool any = false;
    for (int level = 0; level < 64; ++level) {
      if ((count_ >> level & 1) == 0) continue;
      product = any ? levels_[level] * product : levels_[level];
      any = true;
    }
    return product;
  }

 private:
  double levels_[64] = {};
  uint64_t count_ = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_PRODUCT_TREE_H_
