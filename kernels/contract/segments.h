// Groupings of segments, and the smallest group of any grouping.
#ifndef GRIDFOLD_KERNELS_CONTRACT_SEGMENTS_H_
#define GRIDFOLD_KERNELS_CONTRACT_SEGMENTS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
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

struct SmallestGroup {
  uint64_t group = 0;
  uint64_t size = 0;
};

// The first of the smallest groups; none where there are no groups.
inline std::optional<SmallestGroup> FindSmallestGroup(const Grouping& grouping) {
  if (grouping.group_count == 0) return std::nullopt;
  if (grouping.kind != GroupingKind::kSegments) return SmallestGroup{0, grouping.group_size};
  SmallestGroup smallest{0, std::numeric_limits<uint64_t>::max()};
  for (uint64_t g = 0; g < grouping.group_count; ++g) {
    const uint64_t size = grouping.offsets[g + 1] - grouping.offsets[g];
    if (size < smallest.size) smallest = {g, size};
  }
  return smallest;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SEGMENTS_H_
