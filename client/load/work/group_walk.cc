#include "client/load/work/group_walk.h"

namespace gridfold::load {

GroupWalk::GroupWalk(const RequestKind& kind, const OperationValues& values)
    : segment_offsets_(values.segment_offsets) {
  if (kind.group_by == GroupBy::kSegments) {
    group_count_ = segment_offsets_.size() - 1;
  } else {
    AddDimensions(kind, values.shape);
  }
}

void GroupWalk::AddDimensions(const RequestKind& kind, const Extents& shape) {
  const std::vector<bool> is_reduced = ReducedAxes(kind, shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    dimensions_.push_back({shape[axis], is_reduced[axis] ? 0 : group_count_});
    if (!is_reduced[axis]) group_count_ *= shape[axis];
  }
}

uint64_t GroupWalk::GroupOf(uint64_t element) {
  if (!segment_offsets_.empty()) {
    while (element >= segment_offsets_[segment_ + 1]) ++segment_;
    return segment_;
  }
  uint64_t group = 0;
  for (const auto& [extent, group_step] : dimensions_) {
    group += element % extent * group_step;
    element /= extent;
  }
  return group;
}

std::vector<std::vector<int32_t>> GroupElements(const RequestKind& kind,
                                                const OperationValues& values) {
  GroupWalk walk(kind, values);
  std::vector<std::vector<int32_t>> groups(walk.group_count());
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    groups[walk.GroupOf(i)].push_back(values.elements[i]);
  }
  return groups;
}

Extents ResultShape(const RequestKind& kind, const OperationValues& values) {
  if (kind.group_by == GroupBy::kSegments) return {values.segment_offsets.size() - 1};
  const std::vector<bool> is_reduced = ReducedAxes(kind, values.shape.size());
  Extents shape;
  for (size_t axis = 0; axis < values.shape.size(); ++axis) {
    if (!is_reduced[axis]) {
      shape.push_back(values.shape[axis]);
    } else if (kind.keep_dimensions) {
      shape.push_back(1);
    }
  }
  return shape;
}

}  // namespace gridfold::load
