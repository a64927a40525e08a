// Groupings of segments.
#ifndef GRIDFOLD_KERNELS_CONTRACT_SEGMENTS_H_
#define GRIDFOLD_KERNELS_CONTRACT_SEGMENTS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/contract/array.h"

namespace gridfold::kernels {

// `offsets` do not decrease, and there is one at least. Looks at all of them, once: engines ask for
// the longest segment whenever they plan.
inline Grouping SegmentsAt(std::vector<uint64_t> offsets) {
  Grouping grouping{
      .kind = GroupingKind::kSegments, .group_count = offsets.size() - 1, .offsets = {}};
  for (uint64_t g = 0; g < grouping.group_count; ++g) {
    grouping.group_size = std::max(grouping.group_size, offsets[g + 1] - offsets[g]);
  }
  grouping.offsets = std::move(offsets);
  return grouping;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SEGMENTS_H_
