#include "kernels/contract/axes.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
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

// Dimensions that are treated alike and lie evenly in memory, as one.
struct StridedSpan {
  uint64_t extent = 1;
  uint64_t stride = 1;
  bool is_reduced = false;

  // Whether it continues in `inner` as if they were one dimension.
  bool GoesOnIn(const StridedSpan& inner) const { return stride == inner.extent * inner.stride; }
};

// The pattern of an array without gaps.
std::vector<StridedSpan> WithoutGaps(const std::vector<Span>& pattern) {
  std::vector<StridedSpan> spans(pattern.size());
  uint64_t stride = 1;
  for (size_t i = pattern.size(); i-- > 0;) {
    spans[i] = {pattern[i].extent, stride, pattern[i].is_reduced};
    stride *= pattern[i].extent;
  }
  return spans;
}

// Where states of the inner groups of dimensions further out come to stand; none where those are
// not K, RK, or KRK, or a part of that. `inner` groups and part_size are of the dimensions inside.
std::optional<StateGrid> GridOf(const std::vector<StridedSpan>& outside, uint64_t inner,
                                uint64_t part_size) {
  StateGrid grid{.inner = inner, .part_size = part_size};
  // From the innermost one outwards.
  size_t i = outside.size();
  while (i > 0 && !outside[i - 1].is_reduced) grid.inner *= outside[--i].extent;
  while (i > 0 && outside[i - 1].is_reduced) grid.parts *= outside[--i].extent;
  while (i > 0 && !outside[i - 1].is_reduced) grid.outer *= outside[--i].extent;
  return i == 0 ? std::optional(grid) : std::nullopt;
}

// Neighbouring dimensions as few as they are in memory, however they are treated.
std::vector<StridedSpan> MergedInMemory(const std::vector<StridedSpan>& spans) {
  std::vector<StridedSpan> merged;
  for (const StridedSpan& span : spans) {
    if (merged.empty() || !merged.back().GoesOnIn(span)) {
      merged.push_back(span);
    } else {
      merged.back().extent *= span.extent;
      merged.back().stride = span.stride;
    }
  }
  return merged;
}

// The groups of the pattern where they stand: its innermost dimensions are rows, or columns where
// they are kept. There are none where elements do not stand together in runs, where those further
// out have more than two distances, or columns would be taken along no dimension.
std::optional<GroupsInPlace> InPlace(ElementType type, std::vector<StridedSpan> spans) {
  if (spans.empty() || spans.back().stride != 1) return std::nullopt;
  const StridedSpan last = spans.back();
  spans.pop_back();
  StridedSpan rows;  // Along which columns are reduced.
  if (!last.is_reduced) {
    const auto innermost = std::find_if(spans.rbegin(), spans.rend(),
                                        [](const StridedSpan& span) { return span.is_reduced; });
    if (innermost == spans.rend()) return std::nullopt;
    rows = *innermost;
    spans.erase(std::next(innermost).base());
  }
  const std::optional<StateGrid> grid =
      GridOf(spans, last.is_reduced ? 1 : last.extent, last.is_reduced ? last.extent : rows.extent);
  const std::vector<StridedSpan> outside = MergedInMemory(spans);
  if (!grid || outside.size() > (last.is_reduced ? 2 : 1)) return std::nullopt;
  StridedSpan matrices;
  if (last.is_reduced) {
    rows = outside.empty() ? StridedSpan{1, last.extent} : outside.back();
    if (outside.size() > 1) matrices = outside.front();
  } else if (!outside.empty()) {
    matrices = outside.front();
  }
  GroupsInPlace groups;
  groups.states = *grid;
  groups.grouping = last.is_reduced ? GroupingKind::kAxis1 : GroupingKind::kAxis0;
  groups.array = ArrayDescription::Stack(type, matrices.extent, rows.extent, last.extent);
  const bool has_gaps = rows.stride != last.extent ||
                        (matrices.extent > 1 && matrices.stride != rows.extent * last.extent);
  if (has_gaps) groups.array.pitches = Pitches{rows.stride, matrices.stride};
  return groups;
}

// The view's dimensions in memory, those that are treated alike and lie evenly as one; none where
// any runs backwards.
std::vector<StridedSpan> SpansOf(const std::vector<PlacedDimension>& placed) {
  std::vector<StridedSpan> spans;
  for (const PlacedDimension& one : placed) {
    if (one.dimension.stride <= 0) return {};
    const StridedSpan span{one.dimension.extent, static_cast<uint64_t>(one.dimension.stride),
                           one.is_reduced};
    const bool is_one =
        !spans.empty() && spans.back().is_reduced == span.is_reduced && spans.back().GoesOnIn(span);
    if (is_one) {
      spans.back().extent *= span.extent;
      spans.back().stride = span.stride;
    } else {
      spans.push_back(span);
    }
  }
  return spans;
}

// A reduction of the view's elements, copied together in the order that it wants them in.
AxesPlan PlanCopiedView(ElementType type, const StridedView& view, AxisSet axes) {
  AxesPlan plan = PlanAxes(ShapedArray(type, ShapeOf(view)), axes);
  plan.in_place.reset();
  StridedView ordered = view;
  if (plan.rearrangement) {
    const bool reduced_first = plan.grouping == GroupingKind::kAxis0;
    ordered.dimensions.clear();
    for (const bool is_reduced : {reduced_first, !reduced_first}) {
      for (size_t d = 0; d < view.dimensions.size(); ++d) {
        if (Has(axes, static_cast<int>(d)) == is_reduced) {
          ordered.dimensions.push_back(view.dimensions[d]);
        }
      }
    }
  }
  plan.rearrangement = PlanRearrangement(ordered);
  return plan;
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
  plan.in_place = InPlace(type, WithoutGaps(pattern));
  return plan;
}

AxesPlan PlanContiguousAxes(const ShapedArray& array, AxisSet axes) {
  AxesPlan plan = PlanAxes(array, axes);
  if (plan.grouping != GroupingKind::kAxis0) return plan;
  return Rearranged(array.element_type, PatternOf(array.shape, axes), /*reduced_first=*/false);
}

AxesPlan PlanViewAxes(ElementType type, const StridedView& view, AxisSet axes, bool keeps_order) {
  const std::vector<PlacedDimension> placed = InMemoryOrder(view, axes, keeps_order);
  const bool are_in_order = AreInOrder(placed, keeps_order);
  StridedView memory;
  AxisSet reduced = 0;
  for (size_t d = 0; d < placed.size(); ++d) {
    memory.dimensions.push_back(placed[d].dimension);
    if (placed[d].is_reduced) reduced |= AxisBit(static_cast<int>(d));
  }
  if (!are_in_order || !IsContiguous(memory)) {
    AxesPlan plan = PlanCopiedView(type, view, axes);
    if (are_in_order) plan.in_place = InPlace(type, SpansOf(placed));
    return plan;
  }
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
