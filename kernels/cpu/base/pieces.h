// How contiguous groups are cut into pieces of work of about equal size: short groups are put
// together, long ones cut. The pieces depend on the groups' sizes only.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_PIECES_H_
#define GRIDFOLD_KERNELS_CPU_BASE_PIECES_H_

#include <cstdint>
#include <vector>

#include "kernels/contract/array.h"

namespace gridfold::kernels::cpu {

// First element of group g (of a grouping other than kAxis0); group_count gives the end of the
// last.
inline uint64_t GroupBegin(const Grouping& grouping, uint64_t g) {
  return grouping.kind == GroupingKind::kSegments ? grouping.offsets[g] : g * grouping.group_size;
}

inline uint64_t GroupSize(const Grouping& grouping, uint64_t g) {
  if (grouping.kind != GroupingKind::kSegments) return grouping.group_size;
  return grouping.offsets[g + 1] - grouping.offsets[g];
}

// Either the whole groups [first_group, end_group), or the elements [begin, end) of the group
// first_group, where end_group == first_group.
struct Piece {
  uint64_t first_group;
  uint64_t end_group;
  uint64_t begin;
  uint64_t end;

  bool is_part_of_group() const { return end_group == first_group; }
};

// In the groups' order. No piece has more than block_elements elements.
std::vector<Piece> CutIntoPieces(const Grouping& grouping, uint64_t block_elements);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_PIECES_H_
