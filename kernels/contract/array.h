// Views of arrays, their shape, and how they are split into groups. Plain data, no ownership.
#ifndef GRIDFOLD_KERNELS_CONTRACT_ARRAY_H_
#define GRIDFOLD_KERNELS_CONTRACT_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/types/element_type.h"

namespace gridfold::kernels {

// Read-only bytes in host memory. No alignment is required of `data`.
struct HostSpan {
  const std::byte* data = nullptr;
  size_t size_bytes = 0;
};

// Writable bytes in host memory. No alignment is required of `data`.
struct MutableHostSpan {
  std::byte* data = nullptr;
  size_t size_bytes = 0;
};

// Read-only elements in device memory, aligned to their own size, not necessarily to more. A type
// of its own so that host and device memory cannot be mixed up.
struct DeviceSpan {
  const void* data = nullptr;
  uint64_t element_count = 0;
};

// Writable elements in device memory, aligned to their own size.
struct MutableDeviceSpan {
  void* data = nullptr;
  uint64_t element_count = 0;
};

// Elements from a row to the next and from a matrix to the next of a stack, where further elements
// stand between them, as in views of larger arrays (strided_view.h).
struct Pitches {
  uint64_t row = 0;
  uint64_t matrix = 0;

  bool operator==(const Pitches&) const = default;
};

// Element type and shape of an array.
struct ArrayDescription {
  ElementType element_type = ElementType::kInt32;
  uint64_t element_count = 0;
  // Extents of a two-dimensional, row-major array, or of each matrix of a stack, one behind the
  // other: matrices * rows * columns == element_count. A one-dimensional array has is_matrix false
  // and the extents are not used.
  bool is_matrix = false;
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t matrices = 1;
  // Nothing where rows follow one another. Only reductions of resident arrays know of others, along
  // the rows or the columns (Lane::ReducesInPlace).
  std::optional<Pitches> pitches = std::nullopt;

  static ArrayDescription Vector(ElementType type, uint64_t count) { return {type, count}; }
  static ArrayDescription Matrix(ElementType type, uint64_t rows, uint64_t columns) {
    return {type, rows * columns, true, rows, columns};
  }
  static ArrayDescription Stack(ElementType type, uint64_t matrices, uint64_t rows,
                                uint64_t columns) {
    return {type, matrices * rows * columns, true, rows, columns, matrices};
  }
  uint64_t size_bytes() const { return element_count * ElementSize(element_type); }
  uint64_t row_pitch() const { return pitches ? pitches->row : columns; }
  // Elements from the first one to the last one, with those that stand between.
  uint64_t span_elements() const {
    if (!pitches || element_count == 0) return element_count;
    return (matrices - 1) * pitches->matrix + (rows - 1) * pitches->row + columns;
  }
  uint64_t span_bytes() const { return span_elements() * ElementSize(element_type); }
};

// How a request groups the elements: along an axis, or by offsets.
enum class GroupingKind : uint8_t { kWhole, kAxis0, kAxis1, kSegments };

struct GroupingSpec {
  GroupingKind kind = GroupingKind::kWhole;
  std::vector<uint64_t> offsets;  // kSegments: one more than segments, from 0 to element_count.
};

// A validated split of an array into groups, in the three forms that kernels distinguish:
//   kWhole, kAxis1: group g holds elements [g * group_size, (g + 1) * group_size)
//   kAxis0:         group g holds elements g, g + columns, g + 2 * columns, ... (group_size of
//                   them); of a stack the groups of a matrix follow those of the one before it
//   kSegments:      group g holds elements [offsets[g], offsets[g + 1]); see segments.h
// Where the array has pitches, rows and matrices begin where those say.
struct Grouping {
  GroupingKind kind = GroupingKind::kWhole;
  uint64_t group_count = 1;
  uint64_t group_size = 0;        // Elements of a group; kSegments: of the longest.
  std::vector<uint64_t> offsets;  // kSegments only.
  uint64_t matrices = 1;          // Of a stack, whose columns are groups: kAxis0 only.

  uint64_t columns() const { return group_count / matrices; }  // kAxis0: of a matrix.
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_ARRAY_H_
