// Groups of the elements of an array: which one each belongs to.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_GROUP_WALK_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_GROUP_WALK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "client/load/work/array_shape.h"
#include "client/load/work/array_values.h"
#include "client/load/work/scenario.h"

namespace gridfold::load {

// Asked for the elements in their order in memory, in which those of a group are in their order
// too. `values` must outlive the walk.
class GroupWalk {
 public:
  GroupWalk(const RequestKind& kind, const OperationValues& values);

  uint64_t group_count() const { return group_count_; }

  uint64_t GroupOf(uint64_t element);

 private:
  // A dimension of the array, and how far apart the groups of neighbours along it are: 0 where
  // these are of one group.
  struct Dimension {
    uint64_t extent;
    uint64_t group_step;
  };

  void AddDimensions(const RequestKind& kind, const Extents& shape);

  const std::span<const uint64_t> segment_offsets_;  // None: groups run along axes.
  std::vector<Dimension> dimensions_;                // From the innermost out.
  uint64_t group_count_ = 1;
  uint64_t segment_ = 0;  // Of the element that was asked for last.
};

// The elements of each group, in their order in memory.
std::vector<std::vector<int32_t>> GroupElements(const RequestKind& kind,
                                                const OperationValues& values);

// The shape of values of which each group has one.
Extents ResultShape(const RequestKind& kind, const OperationValues& values);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_GROUP_WALK_H_
