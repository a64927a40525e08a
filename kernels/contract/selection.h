// Selections: the elements of an array that a mask says count, one after the other, and where those
// of each group begin.
//
//   SelectionPlan plan{.element_count = n, .element_bytes = 4, .grouping = groups, .initial = {}};
//   offsets = lane.Select(plan, input, mask, scratch, selected, stop, run);
//   // Group g has elements [offsets[g], offsets[g + 1]) of `selected` now.
//
// A mask is a byte for each element, 1 where it counts and 0 where it does not. Without one all do.
#ifndef GRIDFOLD_KERNELS_CONTRACT_SELECTION_H_
#define GRIDFOLD_KERNELS_CONTRACT_SELECTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/contract/array.h"

namespace gridfold::kernels {

// Bytes of an element, of which the first element_bytes count.
using ElementBytes = std::array<std::byte, 8>;

// Engines count the elements of so many neighbours together.
inline constexpr uint64_t kSelectionTile = 4096;

struct SelectionPlan {
  uint64_t element_count = 0;
  uint64_t element_bytes = 1;  // 1, 2, 4 or 8.
  Grouping grouping;           // Of elements that stand together: not along axis 0.
  // Stands before the elements of each group.
  std::optional<ElementBytes> initial;

  uint64_t tile_count() const {
    return element_count / kSelectionTile + (element_count % kSelectionTile != 0 ? 1 : 0);
  }
  // Room for what is selected, whatever the mask.
  uint64_t selected_bytes_max() const {
    return (element_count + (initial ? grouping.group_count : 0)) * element_bytes;
  }
  // Selected elements before each tile, and all of them.
  uint64_t scratch_bytes() const { return (tile_count() + 1) * sizeof(uint64_t); }

  // Where group g begins in the array: g from 0 to group_count, where the array ends.
  uint64_t GroupBegin(uint64_t g) const {
    return grouping.kind == GroupingKind::kSegments ? grouping.offsets[g] : g * grouping.group_size;
  }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SELECTION_H_
