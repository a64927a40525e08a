// A moving scan's plan in the terms of numerics/scans/moving_chunk.h, which both engines follow.
#ifndef GRIDFOLD_KERNELS_CONTRACT_MOVING_SCAN_H_
#define GRIDFOLD_KERNELS_CONTRACT_MOVING_SCAN_H_

#include <cstdint>

#include "kernels/contract/scan.h"
#include "kernels/numerics/scans/moving_chunk.h"

namespace gridfold::kernels {

// Where the positions of lines and groups stand. `offsets` are those of segments, in memory that
// the engine reads; they may be null where only sizes are asked for.
inline MovingShape MovingShapeOf(const ScanPlan& plan, const uint64_t* offsets) {
  const Grouping& grouping = plan.grouping;
  MovingShape shape{.line_length = plan.array.element_count,
                    .group_size = grouping.group_size,
                    .reverse = plan.direction == ScanDirection::kReverse};
  if (grouping.kind == GroupingKind::kAxis0) {
    shape.line_count = grouping.group_count;
    shape.line_length = grouping.group_size;
  } else if (grouping.kind == GroupingKind::kSegments) {
    shape.offsets = offsets;
    shape.segment_count = grouping.group_count;
  }
  return shape;
}

// What the results are.
inline MovingRules MovingRulesOf(const ScanPlan& plan) {
  return {.window = plan.window,
          .min_count = plan.min_count,
          .mean = plan.operation == ScanOperation::kMean,
          .ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
          .wrap = plan.overflow_policy == OverflowPolicy::kWrap};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_MOVING_SCAN_H_
