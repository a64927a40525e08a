#include "kernels/cpu/scan/heads.h"

#include <algorithm>
#include <vector>

namespace gridfold::kernels::cpu {

namespace {

// Groups of one size start at its multiples, in both directions.
void MarkMultiples(uint64_t group_size, uint64_t begin, uint64_t count, bool* heads) {
  const uint64_t past_a_start = begin % group_size;
  const uint64_t first = past_a_start == 0 ? 0 : group_size - past_a_start;
  for (uint64_t i = first; i < count; i += group_size) heads[i] = true;
}

// Going forwards, segment g starts at offsets[g].
void MarkForward(const std::vector<uint64_t>& offsets, uint64_t begin, uint64_t count,
                 bool* heads) {
  auto offset = std::lower_bound(offsets.begin(), offsets.end(), begin);
  for (; offset != offsets.end() && *offset < begin + count; ++offset) {
    heads[*offset - begin] = true;
  }
}

// Going backwards, it starts with its last element: at position element_count - offsets[g + 1].
void MarkReverse(const std::vector<uint64_t>& offsets, uint64_t begin, uint64_t count,
                 bool* heads) {
  const uint64_t element_count = offsets.back();
  const uint64_t lowest = element_count - begin - count + 1;
  const uint64_t highest = element_count - begin;
  auto offset = std::lower_bound(offsets.begin(), offsets.end(), lowest);
  for (; offset != offsets.end() && *offset <= highest; ++offset) {
    heads[highest - *offset] = true;
  }
}

}  // namespace

void MarkGroupHeads(const ScanPlan& plan, uint64_t begin, uint64_t count, bool* heads) {
  std::fill_n(heads, count, false);
  if (plan.grouping.kind != GroupingKind::kSegments) {
    MarkMultiples(plan.grouping.group_size, begin, count, heads);
  } else if (plan.direction == ScanDirection::kForward) {
    MarkForward(plan.grouping.offsets, begin, count, heads);
  } else {
    MarkReverse(plan.grouping.offsets, begin, count, heads);
  }
}

}  // namespace gridfold::kernels::cpu
