// Rearrangements: copies of an array with its dimensions in another order, as NumPy's transpose, or
// of what a view chooses of it, without gaps.
//
//   // From [channels, rows, columns] to [rows, columns, channels].
//   const Rearrangement order = PlanRearrangement({3, 480, 640}, std::array{1, 2, 0});
//
// Neighbouring dimensions that stay neighbours are one, so few are left: runs of elements that stay
// together, and dimensions of such runs. Engines copy them in tiles that are wide in either order.
#ifndef GRIDFOLD_KERNELS_CONTRACT_REARRANGEMENT_H_
#define GRIDFOLD_KERNELS_CONTRACT_REARRANGEMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/contract/shape.h"
#include "kernels/contract/strided_view.h"
#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

struct Rearrangement {
  // How far apart, in elements, neighbours along a dimension stand in either array.
  struct Dimension {
    uint64_t extent = 1;
    int64_t from_stride = 0;
    int64_t to_stride = 0;

    bool operator==(const Dimension&) const = default;
  };

  uint64_t from_count = 1;  // Elements of the input, of which a view may leave some out,
  uint64_t from_first = 0;  // and which of them is the result's first one.
  uint64_t run = 1;         // Elements that stay together.
  // Of runs, those of one element left out. The first one is innermost in the result and the second
  // one in the input. Where one is both it is the second, and the first one the next in the result,
  // or one of a single run. There is none, or at least these two.
  std::array<Dimension, kDimensionsMax> dimensions{};
  int dimension_count = 0;

  uint64_t element_count() const;
  // What brings the elements back. Requires that none was left out.
  Rearrangement Inverse() const;
};

// Dimension order[i] of the input becomes dimension i of the result. Requires every dimension of
// the shape once in `order`.
Rearrangement PlanRearrangement(const Shape& shape, std::span<const int> order);

// The view's elements in its row-major order, of the array's elements in RangeOf(view).
Rearrangement PlanRearrangement(const StridedView& view);

// A rearrangement cut into tiles. Sizes and strides are in units of so many bytes, which divide all
// of them and the addresses of both arrays.
struct RearrangementTiles {
  uint32_t unit_bytes = 1;
  uint32_t run_tile = 1;         // Units of a run that a tile takes,
  uint32_t extents[2] = {1, 1};  // and runs along the first two dimensions.
  uint64_t tile_count = 0;
  Rearrangement order;

  // Whether runs that stand together in the input do so in the result.
  GRIDFOLD_HD constexpr bool keeps_neighbours() const {
    return order.dimensions[0].extent == 1 ||
           order.dimensions[1].to_stride < order.dimensions[0].to_stride;
  }
};

// Where a tile begins, in units from the result's first element in either array, and its extents.
struct RearrangementTile {
  int64_t from = 0;
  int64_t to = 0;
  uint32_t run = 1;
  uint32_t extents[2] = {1, 1};
};

inline constexpr uint64_t kRearrangementUnitBytesMax = 16;

// What a tile takes at most.
inline constexpr uint64_t kRearrangementTileUnits = 4096;
inline constexpr uint64_t kRearrangementTileBytes = 32 << 10;

// Where the element of the input is that is first in the result.
inline const void* FirstOf(const Rearrangement& order, uint64_t element_bytes, const void* from) {
  return static_cast<const std::byte*>(from) + order.from_first * element_bytes;
}

// The tiles of a copy between these addresses, of the result's first element, and of elements of
// this size.
RearrangementTiles CutRearrangement(const Rearrangement& order, uint64_t element_bytes,
                                    const void* from, const void* to);

// Tile `index` of them, below tile_count.
GRIDFOLD_HD constexpr RearrangementTile TileAt(const RearrangementTiles& tiles, uint64_t index) {
  RearrangementTile tile;
  const auto next = [&index](uint64_t count) {
    const bool is_short =
        ((index | count) >> 32) == 0;  // Where division takes a third of the time.
    const uint64_t quotient =
        is_short ? static_cast<uint32_t>(index) / static_cast<uint32_t>(count) : index / count;
    const uint64_t place = index - quotient * count;
    index = quotient;
    return place;
  };
  const Rearrangement& order = tiles.order;
  const uint64_t run_begin =
      next((order.run + tiles.run_tile - 1) / tiles.run_tile) * tiles.run_tile;
  tile.run = static_cast<uint32_t>(Min<uint64_t>(order.run - run_begin, tiles.run_tile));
  tile.from = static_cast<int64_t>(run_begin);
  tile.to = tile.from;
  for (int d = 0; d < order.dimension_count; ++d) {
    const Rearrangement::Dimension& dimension = order.dimensions[static_cast<size_t>(d)];
    const uint64_t extent = d < 2 ? tiles.extents[d] : 1;
    const uint64_t begin = next((dimension.extent + extent - 1) / extent) * extent;
    if (d < 2) tile.extents[d] = static_cast<uint32_t>(Min(dimension.extent - begin, extent));
    tile.from += static_cast<int64_t>(begin) * dimension.from_stride;
    tile.to += static_cast<int64_t>(begin) * dimension.to_stride;
  }
  return tile;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_REARRANGEMENT_H_
