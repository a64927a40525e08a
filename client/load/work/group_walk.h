// Groups of the elements of an array: which one each belongs to.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_GROUP_WALK_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_GROUP_WALK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "client/load/work/array_values.h"
#include "client/load/work/scenario.h"

namespace gridfold::load {

// Asked for the elements in their order in memory, in which those of a group are in their order
// too. `values` must outlive the walk.
class GroupWalk {
 public:
  GroupWalk(const RequestKind& kind, const OperationValues& values)
      : group_by_(kind.group_by),
        column_count_(kind.column_count),
        segment_offsets_(values.segment_offsets),
        group_count_(CountGroups(values.elements.size())) {}

  uint64_t group_count() const { return group_count_; }

  uint64_t GroupOf(uint64_t element) {
    switch (group_by_) {
      case GroupBy::kAll: return 0;
      case GroupBy::kRows: return element / column_count_;
      case GroupBy::kColumns: return element % column_count_;
      case GroupBy::kSegments:
        while (element >= segment_offsets_[segment_ + 1]) ++segment_;
        return segment_;
    }
    return 0;
  }

 private:
  uint64_t CountGroups(uint64_t element_count) const {
    switch (group_by_) {
      case GroupBy::kAll: return 1;
      case GroupBy::kRows: return element_count / column_count_;
      case GroupBy::kColumns: return column_count_;
      case GroupBy::kSegments: return segment_offsets_.size() - 1;
    }
    return 0;
  }

  const GroupBy group_by_;
  const uint64_t column_count_;
  const std::span<const uint64_t> segment_offsets_;
  const uint64_t group_count_;
  uint64_t segment_ = 0;  // Of the element that was asked for last.
};

// The elements of each group, in their order in memory.
inline std::vector<std::vector<int32_t>> GroupElements(const RequestKind& kind,
                                                       const OperationValues& values) {
  GroupWalk walk(kind, values);
  std::vector<std::vector<int32_t>> groups(walk.group_count());
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    groups[walk.GroupOf(i)].push_back(values.elements[i]);
  }
  return groups;
}

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_GROUP_WALK_H_
