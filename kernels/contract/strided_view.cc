#include "kernels/contract/strided_view.h"

#include <algorithm>
#include <cstddef>

namespace gridfold::kernels {

StridedView WholeView(const Shape& shape) {
  StridedView view;
  view.dimensions.resize(static_cast<size_t>(shape.dimension_count()));
  uint64_t stride = 1;
  for (int d = shape.dimension_count() - 1; d >= 0; --d) {
    view.dimensions[static_cast<size_t>(d)] = {shape[d], static_cast<int64_t>(stride)};
    stride *= shape[d];
  }
  return view;
}

Shape ShapeOf(const StridedView& view) {
  Shape shape;
  for (const StridedDimension& dimension : view.dimensions) shape.Append(dimension.extent);
  return shape;
}

ElementRange RangeOf(const StridedView& view) {
  if (ShapeOf(view).element_count() == 0) return {view.first, 0};
  uint64_t low = view.first;
  uint64_t high = view.first;
  for (const StridedDimension& dimension : view.dimensions) {
    const int64_t reach = static_cast<int64_t>(dimension.extent - 1) * dimension.stride;
    // Of what is negative too: 64 bits wrap.
    (reach < 0 ? low : high) += static_cast<uint64_t>(reach);
  }
  return {low, high - low + 1};
}

bool IsContiguous(const StridedView& view) {
  if (ShapeOf(view).element_count() == 0) return true;
  uint64_t stride = 1;
  for (auto dimension = view.dimensions.rbegin(); dimension != view.dimensions.rend();
       ++dimension) {
    if (dimension->extent == 1) continue;
    if (dimension->stride != static_cast<int64_t>(stride)) return false;
    stride *= dimension->extent;
  }
  return true;
}

StridedView BoxOf(const StridedView& view, uint64_t index, uint64_t count_max) {
  std::vector<uint64_t> place(view.dimensions.size());  // The first element's indices.
  for (size_t d = place.size(); d-- > 0;) {
    place[d] = index % view.dimensions[d].extent;
    index /= view.dimensions[d].extent;
  }
  StridedView box{view.first, {}};
  for (size_t d = 0; d < place.size(); ++d) {
    box.first += place[d] * static_cast<uint64_t>(view.dimensions[d].stride);
  }
  // Dimensions that the box has whole, and of the next one as much as there is room for.
  size_t cut = place.size() - 1;
  uint64_t inner = 1;
  while (cut > 0 && place[cut] == 0 && view.dimensions[cut].extent <= count_max / inner) {
    inner *= view.dimensions[cut--].extent;
  }
  box.dimensions.assign(view.dimensions.begin() + static_cast<ptrdiff_t>(cut),
                        view.dimensions.end());
  StridedDimension& outermost = box.dimensions.front();
  outermost.extent = std::min(outermost.extent - place[cut], count_max / inner);
  return box;
}

}  // namespace gridfold::kernels
