// States of parts of groups, side by side in one room, as a reduction over two sets of axes leaves
// them: of the inner axes first, and then of the outer ones.
//
//   // Sums of [8, 3, 100, 5] along axes 0 and 2, of which axis 2 is reduced first.
//   const StateGrid grid{.outer = 1, .parts = 8, .inner = 3 * 5, .part_size = 100};
#ifndef GRIDFOLD_KERNELS_CONTRACT_STATE_GRID_H_
#define GRIDFOLD_KERNELS_CONTRACT_STATE_GRID_H_

#include <cstdint>

namespace gridfold::kernels {

// The state of part p of group (o, i) stands at (o * parts + p) * inner + i; that group is number
// o * inner + i.
struct StateGrid {
  uint64_t outer = 1;
  uint64_t parts = 1;
  uint64_t inner = 1;
  uint64_t part_size = 0;  // Elements of a part, which stand behind those of the parts before it.

  uint64_t state_count() const { return outer * parts * inner; }
  bool operator==(const StateGrid&) const = default;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_STATE_GRID_H_
