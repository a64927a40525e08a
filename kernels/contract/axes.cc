#include "kernels/contract/axes.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace gridfold::kernels {

namespace {

// Neighbouring dimensions that are treated alike.
struct Span {
  uint64_t extent = 1;
  bool is_reduced = false;
};

bool Has(AxisSet axes, int axis) { return (axes & AxisBit(axis)) != 0; }

std::vector<Span> PatternOf(const Shape& shape, AxisSet axes) {
  std::vector<Span> pattern;
  for (int d = 0; d < shape.dimension_count(); ++d) {
    if (shape[d] == 1) continue;
    const bool is_reduced = Has(axes, d);
    if (pattern.empty() || pattern.back().is_reduced != is_reduced) {
      pattern.push_back({1, is_reduced});
    }
    pattern.back().extent *= shape[d];
  }
  return pattern;
}

// A dimension of a view, and its place among those that are reduced, or kept.
struct PlacedDimension {
  StridedDimension dimension;
  bool is_reduced = false;
  int place = 0;
};

// The view's dimensions of more than one element, outermost in memory first. Where order does not
// matter, reduced ones that run backwards run forwards from where they end.
std::vector<PlacedDimension> InMemoryOrder(const StridedView& view, AxisSet axes,
                                           bool keeps_order) {
  std::vector<PlacedDimension> placed;
  for (size_t d = 0; d < view.dimensions.size(); ++d) {
    StridedDimension dimension = view.dimensions[d];
    if (dimension.extent == 1) continue;
    const bool is_reduced = Has(axes, static_cast<int>(d));
    if (is_reduced && !keeps_order) dimension.stride = std::abs(dimension.stride);
    placed.push_back({dimension, is_reduced, static_cast<int>(d)});
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const PlacedDimension& a, const PlacedDimension& b) {
                     return a.dimension.stride > b.dimension.stride;
                   });
  return placed;
}

// Whether dimensions whose order matters are in that of the view.
bool AreInOrder(const std::vector<PlacedDimension>& placed, bool keeps_order) {
  int last[2] = {-1, -1};  // Of the kept ones, and of the reduced ones.
  for (const PlacedDimension& one : placed) {
    int& before = last[one.is_reduced ? 1 : 0];
    if (one.place < before && (keeps_order || !one.is_reduced)) return false;
    before = one.place;
  }
  return true;
}

// The product of the extents of these axes.
uint64_t CountOf(const Shape& shape, AxisSet axes) {
  Shape chosen;
  for (int d = 0; d < shape.dimension_count(); ++d) {
    if (Has(axes, d)) chosen.Append(shape[d]);
  }
  return chosen.element_count();
}

AxesPlan Rows(ElementType type, uint64_t rows, uint64_t columns) {
  return {ArrayDescription::Matrix(type, rows, columns), GroupingKind::kAxis1, std::nullopt};
}
AxesPlan Columns(ElementType type, uint64_t rows, uint64_t columns) {
  return {ArrayDescription::Matrix(type, rows, columns), GroupingKind::kAxis0, std::nullopt};
}

AxesPlan Rearranged(ElementType type, const std::vector<Span>& pattern, bool reduced_first) {
  Shape shape;
  std::vector<int> order;
  uint64_t sizes[2] = {1, 1};  // Of the kept dimensions, and of the reduced ones.
  for (const Span& span : pattern) {
    shape.Append(span.extent);
    sizes[span.is_reduced ? 1 : 0] *= span.extent;
  }
  for (const bool is_reduced : {reduced_first, !reduced_first}) {
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i].is_reduced == is_reduced) order.push_back(static_cast<int>(i));
    }
  }
  AxesPlan plan =
      reduced_first ? Columns(type, sizes[1], sizes[0]) : Rows(type, sizes[0], sizes[1]);
  plan.rearrangement = PlanRearrangement(shape, order);
  return plan;
}

// The groups of the pattern, which is neither rows nor columns, where they stand. There are none
// where more than one dimension further out than those is reduced.
std::optional<GroupsInPlace> InPlace(ElementType type, const std::vector<Span>& pattern) {
  const bool are_columns = !pattern.back().is_reduced;
  const size_t before = pattern.size() - (are_columns ? 2 : 1);
  if (before > 3) return std::nullopt;
  GroupsInPlace groups;
  StateGrid& states = groups.states;
  // Outer dimensions are K, RK or KRK.
  states.inner = pattern[before - 1].extent * (are_columns ? pattern.back().extent : 1);
  if (before > 1) states.parts = pattern[before - 2].extent;
  if (before > 2) states.outer = pattern[0].extent;
  states.part_size = pattern[before].extent;
  if (are_columns) {
    const uint64_t columns = pattern.back().extent;
    groups.array =
        ArrayDescription::Stack(type, states.state_count() / columns, states.part_size, columns);
  } else {
    groups.array = ArrayDescription::Matrix(type, states.state_count(), states.part_size);
    groups.grouping = GroupingKind::kAxis1;
  }
  return groups;
}

}  // namespace

AxesPlan PlanAxes(const ShapedArray& array, AxisSet axes) {
  const ElementType type = array.element_type;
  const AxisSet all = AllAxes(array.shape.dimension_count());
  if (axes == all) {
    return {ArrayDescription::Vector(type, array.element_count()), GroupingKind::kWhole,
            std::nullopt};
  }
  if (array.element_count() == 0) {
    return Rows(type, CountOf(array.shape, all & ~axes), CountOf(array.shape, axes));
  }
  const std::vector<Span> pattern = PatternOf(array.shape, axes);
  switch (pattern.size()) {
    case 0: return Rows(type, 1, 1);
    case 1:
      return pattern[0].is_reduced ? Rows(type, 1, pattern[0].extent)
                                   : Rows(type, pattern[0].extent, 1);
    case 2:
      return pattern[0].is_reduced ? Columns(type, pattern[0].extent, pattern[1].extent)
                                   : Rows(type, pattern[0].extent, pattern[1].extent);
    default: break;
  }
  AxesPlan plan = Rearranged(type, pattern, !pattern.back().is_reduced);
  plan.in_place = InPlace(type, pattern);
  return plan;
}

AxesPlan PlanContiguousAxes(const ShapedArray& array, AxisSet axes) {
  AxesPlan plan = PlanAxes(array, axes);
  if (plan.grouping != GroupingKind::kAxis0) return plan;
  return Rearranged(array.element_type, PatternOf(array.shape, axes), /*reduced_first=*/false);
}

std::optional<AxesPlan> PlanViewInPlace(ElementType type, const StridedView& view, AxisSet axes,
                                        bool keeps_order) {
  const std::vector<PlacedDimension> placed = InMemoryOrder(view, axes, keeps_order);
  StridedView memory;
  AxisSet reduced = 0;
  for (size_t d = 0; d < placed.size(); ++d) {
    memory.dimensions.push_back(placed[d].dimension);
    if (placed[d].is_reduced) reduced |= AxisBit(static_cast<int>(d));
  }
  if (!AreInOrder(placed, keeps_order) || !IsContiguous(memory)) return std::nullopt;
  const ShapedArray array(type, ShapeOf(memory));
  // One group of all elements is a row where the view has further axes, of one element.
  const bool is_whole = axes == AllAxes(static_cast<int>(view.dimensions.size()));
  if (!is_whole && reduced == AllAxes(array.shape.dimension_count())) {
    return Rows(type, 1, array.element_count());
  }
  return PlanAxes(array, reduced);
}

Shape ReducedShape(const Shape& shape, AxisSet axes, bool keep_dimensions) {
  Shape reduced;
  for (int d = 0; d < shape.dimension_count(); ++d) {
    if (!Has(axes, d)) {
      reduced.Append(shape[d]);
    } else if (keep_dimensions) {
      reduced.Append(1);
    }
  }
  return reduced;
}

}  // namespace gridfold::kernels
