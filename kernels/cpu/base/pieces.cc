#include "kernels/cpu/base/pieces.h"

#include <algorithm>

namespace gridfold::kernels::cpu {

namespace {

// What starting a group costs, in elements: bounds the empty and tiny groups of a piece.
constexpr uint64_t kGroupCost = 64;

void CutGroup(uint64_t group, uint64_t begin, uint64_t end, uint64_t block_elements,
              std::vector<Piece>& pieces) {
  for (; begin < end; begin += block_elements) {
    pieces.push_back({group, group, begin, std::min(begin + block_elements, end)});
  }
}

// Adds the groups from `first` on that fit in one piece together; returns the next group.
uint64_t GatherGroups(const Grouping& grouping, uint64_t first, uint64_t block_elements,
                      std::vector<Piece>& pieces) {
  const uint64_t begin = GroupBegin(grouping, first);
  uint64_t g = first + 1;
  while (g < grouping.group_count && GroupBegin(grouping, g + 1) - begin <= block_elements &&
         (g - first) * kGroupCost < block_elements) {
    ++g;
  }
  pieces.push_back({first, g, begin, GroupBegin(grouping, g)});
  return g;
}

}  // namespace

std::vector<Piece> CutIntoPieces(const Grouping& grouping, uint64_t block_elements) {
  std::vector<Piece> pieces;
  for (uint64_t g = 0; g < grouping.group_count;) {
    if (GroupSize(grouping, g) > block_elements) {
      CutGroup(g, GroupBegin(grouping, g), GroupBegin(grouping, g + 1), block_elements, pieces);
      ++g;
    } else {
      g = GatherGroups(grouping, g, block_elements, pieces);
    }
  }
  return pieces;
}

}  // namespace gridfold::kernels::cpu
