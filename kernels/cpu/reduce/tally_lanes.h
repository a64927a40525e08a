// Counts, bits and integer products by lanes, to be merged into the parts of a ReductionState.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_TALLY_LANES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_TALLY_LANES_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cpu {

// An unsigned integer as wide as S: counters of one tile, which vectorise along with the elements.
template <class S>
using TileCount =
    std::conditional_t<sizeof(S) == 1, uint8_t,
                       std::conditional_t<sizeof(S) == 2, uint16_t,
                                          std::conditional_t<sizeof(S) == 4, uint32_t, uint64_t>>>;
static_assert(kTileRows<uint8_t> <= std::numeric_limits<TileCount<uint8_t>>::max());

// Counts the elements of each lane for which predicate(x) holds, and adds them to `counts`.
template <class S, class Predicate>
inline void CountInTile(const Tile<S>& tile, uint64_t* counts, Predicate predicate) {
  alignas(kLanesAlignment) TileCount<S> tile_counts[kLanesMax<S>];
  std::fill_n(tile_counts, tile.width, TileCount<S>{0});
  ForEachElement(tile, [&](uint32_t lane, S x) {
    tile_counts[lane] = static_cast<TileCount<S>>(tile_counts[lane] + (predicate(x) ? 1 : 0));
  });
  for (uint32_t lane = 0; lane < tile.width; ++lane) counts[lane] += tile_counts[lane];
}

template <class S>
class TallyLanes {
 public:
  void Reset(uint32_t width) {
    std::fill_n(nonzero_, width, 0);
    std::fill_n(nan_, width, 0);
    std::fill_n(infinite_, width, 0);
  }

  void AddTile(const Tile<S>& tile, bool ignore_nan) {
    if constexpr (FloatingElement<S>) {
      CountInTile(tile, nonzero_, [=](S x) { return (x != S{0}) & !(ignore_nan & IsNan(x)); });
      CountInTile(tile, nan_, [](S x) { return IsNan(x); });
      CountInTile(tile, infinite_, [](S x) { return IsInfinite(x); });
    } else {
      CountInTile(tile, nonzero_, [](S x) { return x != 0; });
    }
  }

  void JoinLane(uint32_t into, uint32_t from) {
    nonzero_[into] += nonzero_[from];
    nan_[into] += nan_[from];
    infinite_[into] += infinite_[from];
  }

  void MergeLane(uint32_t lane, TallyState<S>& state) const {
    state.Merge({nonzero_[lane], nan_[lane], infinite_[lane]});
  }

 private:
  alignas(kLanesAlignment) uint64_t nonzero_[kLanesMax<S>];
  alignas(kLanesAlignment) uint64_t nan_[kLanesMax<S>];
  alignas(kLanesAlignment) uint64_t infinite_[kLanesMax<S>];
};

// Floating-point elements have neither bits nor exact products.
template <class S>
class BitsLanes {};
template <class S>
class ProductLanes {};

template <std::integral S>
class BitsLanes<S> {
 public:
  void Reset(uint32_t width) {
    std::fill_n(all_, width, BitsState<S>{}.all);
    std::fill_n(any_, width, BitsState<S>{}.any);
    std::fill_n(parity_, width, BitsState<S>{}.parity);
  }

  void AddTile(const Tile<S>& tile, bool) {
    ForEachElement(tile, [&](uint32_t lane, S x) { Merge(lane, {x, x, x}); });
  }

  void JoinLane(uint32_t into, uint32_t from) { Merge(into, Lane(from)); }

  void MergeLane(uint32_t lane, BitsState<S>& state) const { state.Merge(Lane(lane)); }

 private:
  BitsState<S> Lane(uint32_t lane) const { return {all_[lane], any_[lane], parity_[lane]}; }

  void Merge(uint32_t lane, const BitsState<S>& other) {
    BitsState<S> bits = Lane(lane);
    bits.Merge(other);
    all_[lane] = bits.all;
    any_[lane] = bits.any;
    parity_[lane] = bits.parity;
  }

  alignas(kLanesAlignment) S all_[kLanesMax<S>];
  alignas(kLanesAlignment) S any_[kLanesMax<S>];
  alignas(kLanesAlignment) S parity_[kLanesMax<S>];
};

template <std::integral S>
class ProductLanes<S> {
 public:
  void Reset(uint32_t width) {
    for (uint32_t lane = 0; lane < width; ++lane) Set(lane, CheckedProduct{});
  }

  void AddTile(const Tile<S>& tile, bool) {
    ForEachElement(tile, [&](uint32_t lane, S x) { Merge(lane, CheckedProduct::Of(x)); });
  }

  void JoinLane(uint32_t into, uint32_t from) { Merge(into, Lane(from)); }

  void MergeLane(uint32_t lane, ProductState<S>& state) const { state.product.Merge(Lane(lane)); }

 private:
  CheckedProduct Lane(uint32_t lane) const {
    CheckedProduct product;
    product.wrapped = wrapped_[lane];
    product.magnitude = magnitude_[lane];
    product.negative = negative_[lane];
    product.too_large = too_large_[lane];
    product.has_zero = has_zero_[lane];
    return product;
  }

  void Set(uint32_t lane, const CheckedProduct& product) {
    wrapped_[lane] = product.wrapped;
    magnitude_[lane] = product.magnitude;
    negative_[lane] = product.negative;
    too_large_[lane] = product.too_large;
    has_zero_[lane] = product.has_zero;
  }

  void Merge(uint32_t lane, const CheckedProduct& other) {
    CheckedProduct product = Lane(lane);
    product.Merge(other);
    Set(lane, product);
  }

  uint64_t wrapped_[kLanesMax<S>];
  uint64_t magnitude_[kLanesMax<S>];
  bool negative_[kLanesMax<S>];
  bool too_large_[kLanesMax<S>];
  bool has_zero_[kLanesMax<S>];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_TALLY_LANES_H_
