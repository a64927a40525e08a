// Ways to split arrays into groups that bring out what can go wrong with groups.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_GROUPINGS_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_GROUPINGS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/contract/array.h"

namespace gridfold::kernels::conformance {

struct Shape {
  uint64_t rows;
  uint64_t columns;
};

// Narrow and wide, single rows and columns, around warps, tiles and chunks, and empty both ways.
std::vector<Shape> MatrixShapes();

// Offsets of segments: none, one, empty ones at both ends and in a row, one giant among tiny ones,
// many of the same few lengths, random ones.
std::vector<std::vector<uint64_t>> SegmentOffsets();

// Offsets of segments of these lengths.
std::vector<uint64_t> OffsetsOf(const std::vector<uint64_t>& lengths);

inline GroupingSpec Axis(int axis) {
  return {axis == 0 ? GroupingKind::kAxis0 : GroupingKind::kAxis1, {}};
}
inline GroupingSpec Segments(std::vector<uint64_t> offsets) {
  return {GroupingKind::kSegments, std::move(offsets)};
}

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_GROUPINGS_H_
