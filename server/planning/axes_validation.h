// From the grouping of a request to the groups that kernels know. Pure functions; thread-safe.
//
// Errors: INVALID_ARGUMENT that names the field at fault.
#ifndef GRIDFOLD_SERVER_PLANNING_AXES_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_AXES_VALIDATION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "gridfold/v1/array.pb.h"
#include "kernels/contract/array.h"
#include "kernels/contract/axes.h"
#include "kernels/contract/shape.h"
#include "kernels/contract/strided_view.h"
#include "server/base/limits.h"

namespace gridfold::server {

// What a request asks for: segments, or axes along which the operation runs.
struct RequestedGroups {
  bool has_segments = false;
  kernels::AxisSet axes = 0;  // All of them where no grouping is given.
};

// Errors: an axis that an array of so many dimensions does not have, or that is named twice.
// Segments of an array that is not one-dimensional.
absl::StatusOr<RequestedGroups> ValidateGroups(const v1::Grouping& grouping, int dimension_count);

// How an operation on an array is run, and what comes of it.
struct PlannedGroups {
  kernels::ArrayDescription array;  // After the rearrangement, if there is one.
  kernels::GroupingSpec grouping;
  std::optional<kernels::Rearrangement> rearrangement;
  std::optional<kernels::GroupsInPlace> in_place = std::nullopt;  // As AxesPlan has them.
};

// Errors: those of ValidateGroups; more groups than the limit.
absl::StatusOr<PlannedGroups> PlanGroups(const v1::Grouping& grouping,
                                         const kernels::ShapedArray& array, const Limits& limits);

// PlanGroups of a view (kernels::PlanViewAxes). Nothing where the groups are segments, or at fault,
// which PlanGroups tells.
std::optional<PlannedGroups> PlanGroupsOfView(const v1::Grouping& grouping,
                                              kernels::ElementType type,
                                              const kernels::StridedView& view, bool keeps_order);

// The same with groups whose elements follow one another: columns are rearranged into rows.
absl::StatusOr<PlannedGroups> PlanContiguousGroups(const v1::Grouping& grouping,
                                                   const kernels::ShapedArray& array,
                                                   const Limits& limits);

// PlanGroups along one axis or none. Further error: another number of axes.
absl::StatusOr<PlannedGroups> PlanScannedGroups(const v1::Grouping& grouping,
                                                const kernels::ShapedArray& array,
                                                const Limits& limits);

// The same of an array of a stream, of which the first extent, 0, stands for any number. Segments
// say how many elements it has. Further error: axes that need the whole array.
absl::StatusOr<PlannedGroups> PlanStreamedGroups(const v1::Grouping& grouping,
                                                 const kernels::ShapedArray& array,
                                                 const Limits& limits);

// Shape of a reduction's results. Errors: segments, where dimensions are to be kept.
absl::StatusOr<kernels::Shape> PlanResultShape(const v1::Grouping& grouping,
                                               const kernels::Shape& shape, bool keep_dimensions);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_AXES_VALIDATION_H_
