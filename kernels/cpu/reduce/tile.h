// Tiles: a few rows of elements at a time, small enough to stay in the first-level cache while
// every part of a reduction looks at them.
//
// The columns of a tile are lanes: each is accumulated by itself, so the loops over a row have no
// dependence between iterations and the compiler vectorises them. A contiguous array is looked at
// as rows of kContiguousLanes elements; a matrix that is reduced down its rows is taken as it is.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_TILE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/base/independent_iterations.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

// S is the element's type, or float for the 16-bit floating-point types.
template <class S>
inline constexpr uint32_t kLanesMax = sizeof(S) <= 4 ? 1024 : 4096 / sizeof(S);

// Lanes of a contiguous array, unless it is short.
inline constexpr uint32_t kContiguousLanes = 128;

// Vectors of lanes that straddle cache lines would take twice the time.
inline constexpr size_t kLanesAlignment = 64;

// The rows of a tile: so few that the counters and sums of one tile fit in types not much wider
// than S.
template <class S>
inline constexpr uint32_t kTileRows = 128 / sizeof(S);

template <class S>
struct Tile {
  const std::byte* data;  // Not necessarily aligned.
  size_t stride_bytes;    // From row to row.
  uint32_t rows;          // At most kTileRows<S>, but for those of BriefLanes.
  uint32_t width;         // Lanes, at most kLanesMax<S>.
  // Last bits of every normal element's significand that are known to be 0: what was converted from
  // 16 bits has fewer than float.
  int trailing_zeros = 0;
};

// Calls body(lane, element) for all elements. Calls for different lanes must not touch the same
// memory: that is promised to the compiler. The tile is a copy, of which it knows that what is
// stored leaves it alone.
template <class S, class Body>
inline void ForEachElement(Tile<S> tile, Body body) {
  for (uint32_t r = 0; r < tile.rows; ++r) {
    const std::byte* row = tile.data + r * tile.stride_bytes;
    GRIDFOLD_INDEPENDENT_ITERATIONS
    for (uint32_t lane = 0; lane < tile.width; ++lane) body(lane, LoadUnaligned<S>(row, lane));
  }
}

// What changes no sum, of any power, and is not counted: stands where lanes have no element.
template <class T>
inline T NoElement() {
  if constexpr (HalfElement<T>) {
    return T::FromDouble(-0.0);
  } else if constexpr (FloatingElement<T>) {
    return -T{0};
  } else {
    return 0;
  }
}

// One row of a tile.
template <class S>
inline Tile<S> RowOf(const Tile<S>& tile, uint32_t row) {
  Tile<S> one = tile;
  one.data += row * tile.stride_bytes;
  one.rows = 1;
  return one;
}

// Asks for a row of the tile after this one, if it follows in memory, while this one is worked on.
template <class S>
inline void PrefetchRowOfNext(const Tile<S>& tile, uint32_t row) {
  constexpr size_t kCacheLineBytes = 64;
  const std::byte* const next = tile.data + (tile.rows + row) * tile.stride_bytes;
  for (size_t offset = 0; offset < tile.width * sizeof(S); offset += kCacheLineBytes) {
    __builtin_prefetch(next + offset);
  }
}

// Joins lanes until one for each column is left: join(into, from) for lanes of the same column,
// lane l belonging to column l % columns. The order depends on the numbers of lanes and columns
// only.
template <class Join>
inline void FoldLanes(uint32_t width, uint32_t columns, Join join) {
  while (width > columns) {
    const uint32_t half = (width / columns + 1) / 2 * columns;
    GRIDFOLD_INDEPENDENT_ITERATIONS
    for (uint32_t lane = half; lane < width; ++lane) join(lane - half, lane);
    width = half;
  }
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_TILE_H_
