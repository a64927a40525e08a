// From the axes along which an operation runs to the groups that kernels know: the whole array,
// columns or rows.
//
// Dimensions of one element are left out and neighbouring ones that are treated alike are one. What
// is left is a pattern of dimensions that are reduced (R) and kept (K). R, RK and KR are the whole
// array, columns and rows, of which nothing is copied. Any other one can be rearranged first, with
// the order among reduced and among kept dimensions as it was: to RK where the innermost dimension
// is kept, else to KR, so that it stays innermost and runs of its elements stay together. A scan
// runs along one axis; behind it and before it the array's dimensions are kept.
//
// A reduction can do without the copy. KRK is a stack of matrices, whose columns are the groups. Of
// a pattern with reduced dimensions further out, RKR, RKRK, KRKR and KRKRK, the innermost ones are
// reduced as rows or as such columns, and the states that come of that are merged along the others.
//
// Results do not show the difference: groups are in row-major order of the kept axes, and elements
// inside a group in row-major order of the others.
//
// A view (strided_view.h) is copied without its gaps first. A reduction does without that where
// groups may be read in the order of memory: of a view without gaps as of any array, and of one
// with gaps where runs of its elements stay together and no more than two dimensions further out
// are regular. Those are the rows of matrices with pitches (array.h): crops, every n-th row, and
// their transposes.
//
//   rows 100 to 199, columns 50 to 249 of [480, 640]: a matrix of [100, 200] with a pitch of 640
#ifndef GRIDFOLD_KERNELS_CONTRACT_AXES_H_
#define GRIDFOLD_KERNELS_CONTRACT_AXES_H_

#include <cstdint>
#include <optional>

#include "kernels/contract/array.h"
#include "kernels/contract/rearrangement.h"
#include "kernels/contract/shape.h"
#include "kernels/contract/state_grid.h"
#include "kernels/contract/strided_view.h"

namespace gridfold::kernels {

// Axes of an array: bit i stands for axis i.
using AxisSet = uint32_t;
constexpr AxisSet AxisBit(int axis) { return AxisSet{1} << axis; }
constexpr AxisSet AllAxes(int dimension_count) { return AxisBit(dimension_count) - 1; }

// Groups of the array as it stands: rows, or the columns of a stack; those of a stack with pitches
// too. Where a group of the operation has several parts, they are its parts.
struct GroupsInPlace {
  ArrayDescription array;
  GroupingKind grouping = GroupingKind::kAxis0;
  StateGrid states;
};

struct AxesPlan {
  // What the operation is planned for: the array, after the rearrangement if there is one, as rows
  // and columns; and its groups.
  ArrayDescription array;
  GroupingKind grouping = GroupingKind::kWhole;
  std::optional<Rearrangement> rearrangement;
  // How a reduction can do without the rearrangement, where there is a way.
  std::optional<GroupsInPlace> in_place = std::nullopt;
};

// A reduction, or a scan, along these axes, which the array has. There may be 2^64 - 1 groups of an
// array without elements, where 64 bits do not hold their number. Requires that the array's size in
// bytes fits in 64 bits.
AxesPlan PlanAxes(const ShapedArray& array, AxisSet axes);

// The same with groups whose elements follow one another, as order statistics need them: columns
// are made rows by a rearrangement. Never kAxis0.
AxesPlan PlanContiguousAxes(const ShapedArray& array, AxisSet axes);

// A reduction along these axes of a view, whose elements are those in RangeOf(view). Where it has
// no gaps and its groups stand in the order of memory, it is one of the array that its elements are
// there; else of a copy, which may not be needed (`in_place`). `keeps_order` says that elements
// must stay in their order inside a group; else they are taken as they stand. Requires a view with
// elements.
AxesPlan PlanViewAxes(ElementType type, const StridedView& view, AxisSet axes, bool keeps_order);

// Shape of the results of a reduction: without the axes along which it ran, or with an extent of 1
// for each of them.
Shape ReducedShape(const Shape& shape, AxisSet axes, bool keep_dimensions);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_AXES_H_
