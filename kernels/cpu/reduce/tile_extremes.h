// Minimum and maximum of a tile, with the index of the first element that has them.
//
// The extremes of a tile are found without indices, lane by lane. Only where they beat what the
// state holds, which is rare after the first tiles, is the tile searched for the first such
// element.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_TILE_EXTREMES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_TILE_EXTREMES_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/tally_lanes.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cpu {

// How the lanes of a tile belong to columns: lane l to column l % columns. The element in row r and
// lane l has index first_index + r * rows_step + l / columns in its group.
struct ColumnMap {
  uint32_t columns = 1;
  uint64_t first_index = 0;
  uint64_t rows_step = 1;
};

namespace tile_internal {

// Merges the first element of `column`, in index order, that satisfies `matches` into `state`.
template <class S, class Matches, class State>
inline void MergeFirst(const Tile<S>& tile, const ColumnMap& map, uint32_t column, Matches matches,
                       State& state) {
  for (uint32_t r = 0; r < tile.rows; ++r) {
    const std::byte* row = tile.data + r * tile.stride_bytes;
    if (map.columns == 1) {
      // Looks at a whole row at a time, which vectorises, before it looks at single elements.
      unsigned matching = 0;
      for (uint32_t lane = 0; lane < tile.width; ++lane) {
        matching |= matches(LoadUnaligned<S>(row, lane)) ? 1u : 0u;
      }
      if (matching == 0) continue;
    }
    for (uint32_t lane = column; lane < tile.width; lane += map.columns) {
      const S x = LoadUnaligned<S>(row, lane);
      if (!matches(x)) continue;
      state.Add(x, map.first_index + r * map.rows_step + lane / map.columns);
      return;
    }
  }
}

// Merges the extremes of a column, of which none is a NaN, into its state.
template <class S>
inline void MergeExtremes(const Tile<S>& tile, const ColumnMap& map, uint32_t column, const S& min,
                          const S& max, ExtremesState<S>& state) {
  if (state.min.index == kNoIndex || state.min.IsBefore(min, state.min.value)) {
    MergeFirst(
        tile, map, column, [m = min](S x) { return x == m; }, state.min);
  }
  if (state.max.index == kNoIndex || state.max.IsBefore(max, state.max.value)) {
    MergeFirst(
        tile, map, column, [m = max](S x) { return x == m; }, state.max);
  }
}

// Merges the extremes of a tile of one column whose rows have no gaps and whose elements are
// finite; returns whether it is such a tile.
template <class S>
inline bool MergeExtremesOfWhole(const Tile<S>& tile, const ColumnMap& map,
                                 ExtremesState<S>& state) {
  if (map.columns != 1 || tile.stride_bytes != tile.width * sizeof(S)) return false;
  const Line<S> line{tile.data, tile.width * tile.rows};
  const LineExtremes<S> extremes = LineExtremes<S>::Of(line);
  if (!extremes.are_finite) return false;
  MergeExtremes(tile, map, 0, extremes.least, extremes.largest, state);
  return true;
}

}  // namespace tile_internal

// Merges the extremes of `tile` into extremes_of(column) for each column; an ExtremesState<S>&.
template <class S, class ExtremesOf>
inline void AddExtremes(const Tile<S>& tile, const ColumnMap& map, bool ignore_nan,
                        ExtremesOf extremes_of) {
  using namespace tile_internal;  // NOLINT
  if (MergeExtremesOfWhole(tile, map, extremes_of(0))) return;
  using Limits = std::numeric_limits<S>;
  constexpr bool kFloating = FloatingElement<S>;
  constexpr S kLargest = kFloating ? Limits::infinity() : Limits::max();
  constexpr S kSmallest = kFloating ? -Limits::infinity() : Limits::lowest();

  alignas(kLanesAlignment) S min[kLanesMax<S>];
  alignas(kLanesAlignment) S max[kLanesMax<S>];
  // Compilers do not know that there is a lane, and warn of extremes of none.
  min[0] = kLargest;
  max[0] = kSmallest;
  std::fill_n(min, tile.width, kLargest);
  std::fill_n(max, tile.width, kSmallest);
  const auto smaller = [](S a, S x) { return x < a ? x : a; };
  const auto larger = [](S a, S x) { return x > a ? x : a; };
  ForEachElement(tile, [&](uint32_t lane, S x) {
    min[lane] = smaller(min[lane], x);
    max[lane] = larger(max[lane], x);
  });
  FoldLanes(tile.width, map.columns, [&](uint32_t into, uint32_t from) {
    min[into] = smaller(min[into], min[from]);
    max[into] = larger(max[into], max[from]);
  });

  alignas(kLanesAlignment) uint64_t nan_counts[kFloating ? kLanesMax<S> : 1];
  if constexpr (kFloating) {
    std::fill_n(nan_counts, tile.width, 0);
    if (!ignore_nan) CountInTile(tile, nan_counts, [](S x) { return IsNan(x); });
    FoldLanes(tile.width, map.columns,
              [&](uint32_t into, uint32_t from) { nan_counts[into] += nan_counts[from]; });
  }

  for (uint32_t column = 0; column < map.columns; ++column) {
    ExtremesState<S>& state = extremes_of(column);
    if constexpr (kFloating) {
      if (nan_counts[column] != 0) {
        if (state.min.index == kNoIndex || !IsNan(state.min.value)) {
          MergeFirst(
              tile, map, column, [](S x) { return IsNan(x); }, state);
        }
        continue;
      }
    }
    MergeExtremes(tile, map, column, min[column], max[column], state);
  }
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_TILE_EXTREMES_H_
