#include "kernels/contract/rearrangement.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gridfold::kernels {

namespace {

using Dimension = Rearrangement::Dimension;

// Dimensions of more than one element in the order of the result, with neighbours that are
// neighbours in both arrays made one.
std::vector<Dimension> MergedDimensions(const Shape& shape, std::span<const int> order) {
  std::array<uint64_t, kDimensionsMax> from_strides{};
  uint64_t stride = 1;
  for (int d = shape.dimension_count() - 1; d >= 0; --d) {
    from_strides[static_cast<size_t>(d)] = stride;
    stride *= shape[d];
  }
  std::vector<Dimension> merged;
  for (const int d : order) {
    if (shape[d] == 1) continue;
    const uint64_t from_stride = from_strides[static_cast<size_t>(d)];
    if (!merged.empty() && merged.back().from_stride == from_stride * shape[d]) {
      merged.back().extent *= shape[d];
      merged.back().from_stride = from_stride;
    } else {
      merged.push_back({shape[d], from_stride, 0});
    }
  }
  stride = 1;
  for (auto dimension = merged.rbegin(); dimension != merged.rend(); ++dimension) {
    dimension->to_stride = stride;
    stride *= dimension->extent;
  }
  return merged;
}

// The largest power of two, up to 16, that divides all of these.
uint64_t CommonUnit(std::initializer_list<uint64_t> values) {
  uint64_t bits = kRearrangementUnitBytesMax;
  for (const uint64_t value : values) bits |= value;
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
  Rearrangement planned;
  if (shape.element_count() == 0) {
    planned.run = 0;
    return planned;
  }
  std::vector<Dimension> dimensions = MergedDimensions(shape, order);
  if (!dimensions.empty() && dimensions.back().from_stride == 1) {
    planned.run = dimensions.back().extent;
    dimensions.pop_back();
  }
  if (dimensions.empty()) return planned;
  std::reverse(dimensions.begin(), dimensions.end());
  // One that was innermost in both would have been part of the runs.
  const auto innermost =
      std::min_element(dimensions.begin(), dimensions.end(),
                       [](const auto& a, const auto& b) { return a.from_stride < b.from_stride; });
  std::swap(*innermost, dimensions[1]);
  std::copy(dimensions.begin(), dimensions.end(), planned.dimensions.begin());
  planned.dimension_count = static_cast<int>(dimensions.size());
  return planned;
}

RearrangementTiles CutRearrangement(const Rearrangement& order, uint64_t element_bytes,
                                    const void* from, const void* to) {
  RearrangementTiles tiles;
  const uint64_t unit_bytes =
      CommonUnit({order.run * element_bytes, reinterpret_cast<uintptr_t>(from),
                  reinterpret_cast<uintptr_t>(to)});
  // Strides are multiples of the run.
  const auto in_units = [&](uint64_t elements) { return elements * element_bytes / unit_bytes; };
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
  while ((2 * side) * (2 * side) <= runs) side *= 2;
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
