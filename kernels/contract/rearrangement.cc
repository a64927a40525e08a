#include "kernels/contract/rearrangement.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace gridfold::kernels {

namespace {

using Dimension = Rearrangement::Dimension;

// Dimensions of more than one element in the order of the result, with neighbours that are
// neighbours in both arrays made one.
std::vector<Dimension> MergedDimensions(const StridedView& view) {
  std::vector<Dimension> merged;
  for (const StridedDimension& dimension : view.dimensions) {
    if (dimension.extent == 1) continue;
    const int64_t reach = static_cast<int64_t>(dimension.extent) * dimension.stride;
    if (!merged.empty() && merged.back().from_stride == reach) {
      merged.back().extent *= dimension.extent;
      merged.back().from_stride = dimension.stride;
    } else {
      merged.push_back({dimension.extent, dimension.stride, 0});
    }
  }
  int64_t stride = 1;
  for (auto dimension = merged.rbegin(); dimension != merged.rend(); ++dimension) {
    dimension->to_stride = stride;
    stride *= static_cast<int64_t>(dimension->extent);
  }
  return merged;
}

// Orders dimensions, innermost in the result first, as Rearrangement has them.
void PlaceInnermost(std::vector<Dimension>& dimensions) {
  if (dimensions.empty()) return;
  if (dimensions.size() == 1) {
    dimensions.insert(dimensions.begin(), Dimension());
    return;
  }
  const auto innermost = std::min_element(
      dimensions.begin(), dimensions.end(), [](const Dimension& a, const Dimension& b) {
        return std::abs(a.from_stride) < std::abs(b.from_stride);
      });
  std::swap(*innermost, dimensions[1]);
}

// The largest power of two, up to 16, that divides the size and the place of everything that is
// copied.
uint64_t UnitBytes(const Rearrangement& order, uint64_t element_bytes, const void* from,
                   const void* to) {
  uint64_t bits = kRearrangementUnitBytesMax | reinterpret_cast<uintptr_t>(from) |
                  reinterpret_cast<uintptr_t>(to) | (order.run * element_bytes);
  for (int d = 0; d < order.dimension_count; ++d) {
    const Dimension& dimension = order.dimensions[static_cast<size_t>(d)];
    bits |= static_cast<uint64_t>(dimension.from_stride | dimension.to_stride) * element_bytes;
  }
  return bits & -bits;
}

}  // namespace

uint64_t Rearrangement::element_count() const {
  uint64_t count = run;
  for (int d = 0; d < dimension_count; ++d) count *= dimensions[static_cast<size_t>(d)].extent;
  return count;
}

Rearrangement Rearrangement::Inverse() const {
  Rearrangement inverse = *this;
  for (Dimension& dimension : inverse.dimensions) {
    std::swap(dimension.from_stride, dimension.to_stride);
  }
  if (dimension_count >= 2) std::swap(inverse.dimensions[0], inverse.dimensions[1]);
  return inverse;
}

Rearrangement PlanRearrangement(const Shape& shape, std::span<const int> order) {
  const StridedView whole = WholeView(shape);
  StridedView view;
  for (const int d : order) view.dimensions.push_back(whole.dimensions[static_cast<size_t>(d)]);
  return PlanRearrangement(view);
}

Rearrangement PlanRearrangement(const StridedView& view) {
  Rearrangement planned;
  const ElementRange range = RangeOf(view);
  planned.from_count = range.count;
  if (range.count == 0) {
    planned.run = 0;
    return planned;
  }
  planned.from_first = view.first - range.first;
  std::vector<Dimension> dimensions = MergedDimensions(view);
  if (!dimensions.empty() && dimensions.back().from_stride == 1) {
    planned.run = dimensions.back().extent;
    dimensions.pop_back();
  }
  std::reverse(dimensions.begin(), dimensions.end());
  PlaceInnermost(dimensions);
  std::copy(dimensions.begin(), dimensions.end(), planned.dimensions.begin());
  planned.dimension_count = static_cast<int>(dimensions.size());
  return planned;
}

RearrangementTiles CutRearrangement(const Rearrangement& order, uint64_t element_bytes,
                                    const void* from, const void* to) {
  RearrangementTiles tiles;
  const uint64_t unit_bytes = UnitBytes(order, element_bytes, from, to);
  const auto in_units = [&](auto elements) {
    using Number = decltype(elements);
    return elements * static_cast<Number>(element_bytes) / static_cast<Number>(unit_bytes);
  };
  tiles.unit_bytes = static_cast<uint32_t>(unit_bytes);
  tiles.order = order;
  tiles.order.run = in_units(order.run);
  for (Dimension& dimension : tiles.order.dimensions) {
    dimension.from_stride = in_units(dimension.from_stride);
    dimension.to_stride = in_units(dimension.to_stride);
  }
  const uint64_t units_max =
      std::min(kRearrangementTileUnits, kRearrangementTileBytes / unit_bytes);
  const uint64_t run = std::min(tiles.order.run, units_max);
  tiles.run_tile = static_cast<uint32_t>(std::max<uint64_t>(run, 1));
  // As wide in the one order as in the other, or as wide as there is room.
  const uint64_t runs = units_max / tiles.run_tile;
  uint64_t side = 1;
  while (!tiles.keeps_neighbours() && (2 * side) * (2 * side) <= runs) side *= 2;
  const uint64_t first = std::min(tiles.order.dimensions[0].extent, side);
  const uint64_t second = std::min(tiles.order.dimensions[1].extent, runs / first);
  tiles.extents[0] =
      static_cast<uint32_t>(std::min(tiles.order.dimensions[0].extent, runs / second));
  tiles.extents[1] = static_cast<uint32_t>(second);
  if (order.element_count() == 0) return tiles;
  tiles.tile_count = (tiles.order.run + tiles.run_tile - 1) / tiles.run_tile;
  for (int d = 0; d < order.dimension_count; ++d) {
    const uint64_t extent = tiles.order.dimensions[static_cast<size_t>(d)].extent;
    const uint64_t tile_extent = d < 2 ? tiles.extents[d] : 1;
    tiles.tile_count *= (extent + tile_extent - 1) / tile_extent;
  }
  return tiles;
}

}  // namespace gridfold::kernels
