#include "client/load/work/array_shape.h"

namespace gridfold::load {
namespace {

Extents RowShape(const RequestKind& kind) {
  return kind.column_count > 0 ? Extents{kind.column_count} : kind.row_shape;
}

}  // namespace

uint64_t ProductOf(std::span<const uint64_t> extents) {
  uint64_t product = 1;
  for (const uint64_t extent : extents) product *= extent;
  return product;
}

uint64_t RowElements(const RequestKind& kind) { return ProductOf(RowShape(kind)); }

Extents WholeShape(const RequestKind& kind, uint64_t element_count) {
  Extents shape = RowShape(kind);
  shape.insert(shape.begin(), element_count / RowElements(kind));
  return shape;
}

size_t WholeDimensionCount(const RequestKind& kind) { return 1 + RowShape(kind).size(); }

size_t DimensionCount(const RequestKind& kind) {
  return kind.view ? kind.view->dimensions.size() : WholeDimensionCount(kind);
}

uint64_t CountFrom(uint64_t first, uint64_t extent, int64_t step) {
  return step < 0 ? first / -static_cast<uint64_t>(step) + 1
                  : (extent - 1 - first) / static_cast<uint64_t>(step) + 1;
}

std::vector<uint64_t> FirstIndices(const ScenarioView& view, const Extents& whole) {
  if (!view.first.empty()) return view.first;
  std::vector<uint64_t> first(whole.size(), 0);
  for (const ScenarioView::Dimension& dimension : view.dimensions) {
    if (dimension.step < 0) first[dimension.axis] = whole[dimension.axis] - 1;
  }
  return first;
}

client::StridedView ResolveView(const ScenarioView& view, const Extents& whole) {
  client::StridedView resolved{.first = FirstIndices(view, whole), .dimensions = {}};
  for (const auto& [axis, count, step] : view.dimensions) {
    const uint64_t all = CountFrom(resolved.first[axis], whole[axis], step);
    resolved.dimensions.push_back({.axis = axis, .count = count.value_or(all), .step = step});
  }
  return resolved;
}

Extents ShapeOf(const client::StridedView& view) {
  Extents shape;
  for (const client::ViewDimension& dimension : view.dimensions) shape.push_back(dimension.count);
  return shape;
}

Extents ShapeOf(const RequestKind& kind, uint64_t element_count) {
  Extents whole = WholeShape(kind, element_count);
  return kind.view ? ShapeOf(ResolveView(*kind.view, whole)) : whole;
}

std::vector<int32_t> TakeView(const client::StridedView& view, const Extents& whole,
                              const std::vector<int32_t>& elements) {
  std::vector<int32_t> taken(ProductOf(ShapeOf(view)));
  std::vector<uint64_t> indices;
  for (uint64_t i = 0; i < taken.size(); ++i) {
    indices = view.first;
    uint64_t left = i;
    for (auto dimension = view.dimensions.rbegin(); dimension != view.dimensions.rend();
         ++dimension) {
      // Modulo 2^64, by which steps go backwards too.
      indices[dimension->axis] += left % dimension->count * static_cast<uint64_t>(dimension->step);
      left /= dimension->count;
    }
    uint64_t place = 0;
    for (size_t axis = 0; axis < whole.size(); ++axis) place = place * whole[axis] + indices[axis];
    taken[i] = elements[place];
  }
  return taken;
}

std::vector<bool> ReducedAxes(const RequestKind& kind, size_t dimension_count) {
  std::vector<bool> is_reduced(dimension_count, !kind.axes && kind.group_by == GroupBy::kAll);
  if (kind.group_by == GroupBy::kRows) is_reduced[1] = true;
  if (kind.group_by == GroupBy::kColumns) is_reduced[0] = true;
  for (const int32_t axis : kind.axes.value_or(std::vector<int32_t>())) {
    is_reduced[axis < 0 ? dimension_count - static_cast<size_t>(-axis)
                        : static_cast<size_t>(axis)] = true;
  }
  return is_reduced;
}

Extents MaskShape(const ScenarioMask& mask, const Extents& shape) {
  const uint64_t dimension_count = mask.dimension_count.value_or(shape.size());
  return {shape.end() - static_cast<ptrdiff_t>(dimension_count), shape.end()};
}

}  // namespace gridfold::load
