// The dimensions of a kind's arrays, and of the views that its operations are about.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_ARRAY_SHAPE_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_ARRAY_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/load/work/scenario.h"
#include "gridfold/resident_array.h"

namespace gridfold::load {

// Extents, the outermost one first.
using Extents = std::vector<uint64_t>;

uint64_t ProductOf(std::span<const uint64_t> extents);

// The elements of which arrays have a whole number: those of a row, where there are rows.
uint64_t RowElements(const RequestKind& kind);

// The array of so many elements, whole rows of them; what is over is left out.
Extents WholeShape(const RequestKind& kind, uint64_t element_count);

// The dimensions of an array, and of what the operation is about.
size_t WholeDimensionCount(const RequestKind& kind);
size_t DimensionCount(const RequestKind& kind);

// Where a view begins.
std::vector<uint64_t> FirstIndices(const ScenarioView& view, const Extents& whole);
// The indices of an axis of `extent` from `first` on, in steps other than 0.
uint64_t CountFrom(uint64_t first, uint64_t extent, int64_t step);
// A view that is inside the array.
client::StridedView ResolveView(const ScenarioView& view, const Extents& whole);
Extents ShapeOf(const client::StridedView& view);

// What the operation is about, of an array of so many elements.
Extents ShapeOf(const RequestKind& kind, uint64_t element_count);

// The elements of a view in their order, of the row-major `elements` of an array.
std::vector<int32_t> TakeView(const client::StridedView& view, const Extents& whole,
                              const std::vector<int32_t>& elements);

// For each of so many dimensions, whether groups run along it. Not of segments.
std::vector<bool> ReducedAxes(const RequestKind& kind, size_t dimension_count);

// The mask of an array of this shape.
Extents MaskShape(const ScenarioMask& mask, const Extents& shape);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_ARRAY_SHAPE_H_
