#include "server/planning/axes_validation.h"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

namespace {

using kernels::AxisBit;
using kernels::AxisSet;
using kernels::GroupingKind;
using kernels::InvalidField;
using kernels::Shape;
using kernels::ShapedArray;

// PlanAxes, or PlanContiguousAxes.
using AxesPlanner = kernels::AxesPlan (*)(const ShapedArray&, AxisSet);

absl::Status NoSuchAxis(absl::string_view field, int64_t axis, int dimension_count) {
  return InvalidField(field, absl::StrCat("there is no axis ", axis, " of an array of ",
                                          dimension_count, " dimensions"));
}

absl::StatusOr<AxisSet> ReadAxes(const v1::Axes& axes, int dimension_count) {
  AxisSet set = 0;
  for (int i = 0; i < axes.axes_size(); ++i) {
    const std::string field = absl::StrCat("grouping.axes.axes[", i, "]");
    const int axis = axes.axes(i);
    if (axis < -dimension_count || axis >= dimension_count) {
      return NoSuchAxis(field, axis, dimension_count);
    }
    const AxisSet bit = AxisBit(axis < 0 ? axis + dimension_count : axis);
    if ((set & bit) != 0) {
      return InvalidField(field, absl::StrCat("axis ", axis, " is named twice"));
    }
    set |= bit;
  }
  return set;
}

absl::Status CheckGroupCount(absl::string_view field, uint64_t group_count, const Limits& limits) {
  if (group_count <= limits.group_count_max) return absl::OkStatus();
  return kernels::AboveLimit(
      field, absl::StrCat(group_count, " groups are more than the ", limits.group_count_max,
                          " that this server allows"));
}

absl::StatusOr<PlannedGroups> PlanSegments(const v1::Segments& segments, const ShapedArray& array,
                                           const Limits& limits) {
  const auto offset_count = static_cast<uint64_t>(segments.offsets_size());
  if (offset_count > 0) {
    absl::Status status = CheckGroupCount("grouping.segments.offsets", offset_count - 1, limits);
    if (!status.ok()) return status;
  }
  return PlannedGroups{
      array.description(),
      {GroupingKind::kSegments, {segments.offsets().begin(), segments.offsets().end()}},
      std::nullopt};
}

const char* FieldOf(const v1::Grouping& grouping) {
  return grouping.has_axes() ? "grouping.axes" : "grouping.axis";
}

PlannedGroups GroupsOf(kernels::AxesPlan plan) {
  return {plan.array, {plan.grouping, {}}, std::move(plan.rearrangement), plan.in_place};
}

PlannedGroups PlanAlongAxes(AxisSet axes, const ShapedArray& array,
                            AxesPlanner plan_axes = kernels::PlanAxes) {
  return GroupsOf(plan_axes(array, axes));
}

// Groups that elements stand in, of an array that is there.
uint64_t GroupCountOf(const PlannedGroups& planned) {
  switch (planned.grouping.kind) {
    case GroupingKind::kAxis0: return planned.array.columns;
    case GroupingKind::kAxis1: return planned.array.rows;
    case GroupingKind::kWhole:
    case GroupingKind::kSegments: break;
  }
  return 1;
}

absl::StatusOr<PlannedGroups> PlanGroupsBy(AxesPlanner plan_axes, const v1::Grouping& grouping,
                                           const ShapedArray& array, const Limits& limits) {
  const absl::StatusOr<RequestedGroups> groups =
      ValidateGroups(grouping, array.shape.dimension_count());
  if (!groups.ok()) return groups.status();
  if (groups->has_segments) return PlanSegments(grouping.segments(), array, limits);
  PlannedGroups planned = PlanAlongAxes(groups->axes, array, plan_axes);
  absl::Status status = CheckGroupCount(FieldOf(grouping), GroupCountOf(planned), limits);
  if (!status.ok()) return status;
  return planned;
}

}  // namespace

absl::StatusOr<RequestedGroups> ValidateGroups(const v1::Grouping& grouping, int dimension_count) {
  switch (grouping.kind_case()) {
    case v1::Grouping::kAxis:
      if (grouping.axis() >= static_cast<uint32_t>(dimension_count)) {
        return NoSuchAxis("grouping.axis", grouping.axis(), dimension_count);
      }
      return RequestedGroups{false, AxisBit(static_cast<int>(grouping.axis()))};
    case v1::Grouping::kAxes: {
      const absl::StatusOr<AxisSet> axes = ReadAxes(grouping.axes(), dimension_count);
      if (!axes.ok()) return axes.status();
      return RequestedGroups{false, *axes};
    }
    case v1::Grouping::kSegments:
      if (dimension_count != 1) {
        return InvalidField("grouping.segments", "the array is not one-dimensional");
      }
      return RequestedGroups{true, 0};
    case v1::Grouping::KIND_NOT_SET: break;
  }
  return RequestedGroups{false, kernels::AllAxes(dimension_count)};
}

absl::StatusOr<PlannedGroups> PlanGroups(const v1::Grouping& grouping, const ShapedArray& array,
                                         const Limits& limits) {
  return PlanGroupsBy(kernels::PlanAxes, grouping, array, limits);
}

std::optional<PlannedGroups> PlanGroupsOfView(const v1::Grouping& grouping,
                                              kernels::ElementType type,
                                              const kernels::StridedView& view, bool keeps_order) {
  const absl::StatusOr<RequestedGroups> groups =
      ValidateGroups(grouping, static_cast<int>(view.dimensions.size()));
  if (!groups.ok() || groups->has_segments) return std::nullopt;
  return GroupsOf(kernels::PlanViewAxes(type, view, groups->axes, keeps_order));
}

absl::StatusOr<PlannedGroups> PlanContiguousGroups(const v1::Grouping& grouping,
                                                   const ShapedArray& array, const Limits& limits) {
  return PlanGroupsBy(kernels::PlanContiguousAxes, grouping, array, limits);
}

absl::StatusOr<PlannedGroups> PlanScannedGroups(const v1::Grouping& grouping,
                                                const ShapedArray& array, const Limits& limits) {
  if (grouping.has_axes() && grouping.axes().axes_size() != 1) {
    return InvalidField("grouping.axes", absl::StrCat("a scan runs along one axis, not along ",
                                                      grouping.axes().axes_size()));
  }
  return PlanGroups(grouping, array, limits);
}

absl::StatusOr<PlannedGroups> PlanStreamedGroups(const v1::Grouping& grouping,
                                                 const ShapedArray& array, const Limits& limits) {
  const absl::StatusOr<RequestedGroups> groups =
      ValidateGroups(grouping, array.shape.dimension_count());
  if (!groups.ok()) return groups.status();
  if (groups->has_segments) {
    const auto& offsets = grouping.segments().offsets();
    const Shape shape{offsets.empty() ? 0 : *offsets.rbegin()};
    return PlanSegments(grouping.segments(), {array.element_type, shape}, limits);
  }
  // Of two rows, as any number that is not left out as an extent of 1 is.
  Shape two_rows = array.shape;
  two_rows.SetExtent(0, 2);
  PlannedGroups planned = PlanAlongAxes(groups->axes, {array.element_type, two_rows});
  if (planned.rearrangement) {
    return InvalidField(FieldOf(grouping),
                        "these axes need the whole array, of which a stream brings one row after "
                        "the other");
  }
  const bool goes_on = (groups->axes & AxisBit(0)) != 0;  // A group, from row to row.
  if (goes_on && planned.grouping.kind == GroupingKind::kAxis1) {
    // One group, since no other dimension has more than one element: a column, however long.
    planned.grouping.kind = GroupingKind::kAxis0;
    planned.array.columns = 1;
  }
  if (planned.grouping.kind == GroupingKind::kAxis0) {
    absl::Status status = CheckGroupCount(FieldOf(grouping), planned.array.columns, limits);
    if (!status.ok()) return status;
  }
  const bool is_matrix = planned.array.is_matrix;
  Shape row = array.shape;
  row.SetExtent(0, 1);
  const uint64_t columns = is_matrix ? planned.array.columns : row.element_count();
  planned.array = !is_matrix && two_rows.dimension_count() == 1
                      ? kernels::ArrayDescription::Vector(array.element_type, 0)
                      : kernels::ArrayDescription::Matrix(array.element_type, 0, columns);
  return planned;
}

absl::StatusOr<Shape> PlanResultShape(const v1::Grouping& grouping, const Shape& shape,
                                      bool keep_dimensions) {
  const absl::StatusOr<RequestedGroups> groups = ValidateGroups(grouping, shape.dimension_count());
  if (!groups.ok()) return groups.status();
  if (!groups->has_segments) return kernels::ReducedShape(shape, groups->axes, keep_dimensions);
  if (keep_dimensions) {
    return InvalidField("keep_dimensions", "segments have no dimensions to keep");
  }
  const int offset_count = grouping.segments().offsets_size();
  return Shape{static_cast<uint64_t>(offset_count == 0 ? 0 : offset_count - 1)};
}

}  // namespace gridfold::server
