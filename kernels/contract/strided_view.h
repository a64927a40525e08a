// Views of arrays whose elements stand at regular distances, as NumPy's slices with steps and
// transpositions make them. Plain data and pure functions.
//
//   // Of an array of [480, 640]: every second row, from the last one on, and the columns as rows.
//   const StridedView view{479 * 640, {{640, 1}, {240, -2 * 640}}};
//   ShapeOf(view);  // [640, 240]
#ifndef GRIDFOLD_KERNELS_CONTRACT_STRIDED_VIEW_H_
#define GRIDFOLD_KERNELS_CONTRACT_STRIDED_VIEW_H_

#include <cstdint>
#include <vector>

#include "kernels/contract/shape.h"

namespace gridfold::kernels {

// A dimension of a view: how many neighbours it has, and how far apart they stand, in elements.
struct StridedDimension {
  uint64_t extent = 1;
  int64_t stride = 0;

  bool operator==(const StridedDimension&) const = default;
};

struct StridedView {
  uint64_t first = 0;  // Index of the view's first element among the array's, in row-major order.
  std::vector<StridedDimension> dimensions =
      {};  // The first one outermost; at most kDimensionsMax.
};

// All of an array.
StridedView WholeView(const Shape& shape);

Shape ShapeOf(const StridedView& view);

// Elements of an array from one to another.
struct ElementRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

// From the lowest element of a view to the highest one, which may hold others; none where the view
// has no elements.
ElementRange RangeOf(const StridedView& view);

// Whether the elements of the view follow one another in the array.
bool IsContiguous(const StridedView& view);

// As many elements as there are in one box, up to `count_max`, from the view's element `index` on
// in its row-major order: those that differ in their innermost indices alone. Requires a view of
// one dimension or more that has this element, and that `count_max` is not 0.
StridedView BoxOf(const StridedView& view, uint64_t index, uint64_t count_max);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_STRIDED_VIEW_H_
