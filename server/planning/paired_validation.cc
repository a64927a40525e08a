#include "server/planning/paired_validation.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/planning/array_validation.h"
#include "server/planning/request_validation.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// The array at `field`, which `planned` keeps alive.
absl::StatusOr<InputArray> HoldArray(const v1::ArraySource& source, absl::string_view field,
                                     const PlanningContext& context, PlannedPaired& planned) {
  absl::StatusOr<InputArray> array = ValidateArray(source, field, context);
  if (!array.ok()) return array;
  if (array->is_sharded()) {
    return InvalidField(array->field, "lies on several devices, and arrays are related on one");
  }
  if (array->is_bool) {
    return InvalidField(array->type_field(), "truth values are not related: send uint8");
  }
  absl::Status status = RequireEngine(array->field, array->engine(), "request", planned.engine);
  if (!status.ok()) return status;
  if (array->resident) planned.leases.push_back(array->resident->lease);
  if (array->region != nullptr) planned.regions.push_back(array->region);
  return array;
}

// An array that goes with x, of its type.
absl::Status HoldCompanion(const v1::ArraySource& source, absl::string_view field,
                           const kernels::Shape& shape, const PlanningContext& context,
                           PlannedPaired& planned, kernels::InputSpan& place) {
  const absl::StatusOr<InputArray> array = HoldArray(source, field, context, planned);
  if (!array.ok()) return array.status();
  const kernels::ElementType type = planned.plan.x.element_type;
  if (array->description.element_type != type) {
    return InvalidField(array->type_field(),
                        absl::StrCat(kernels::ElementTypeName(array->description.element_type),
                                     ", where `x` has ", kernels::ElementTypeName(type)));
  }
  if (array->shape.element_count() != shape.element_count()) {
    return InvalidField(array->count_field(),
                        absl::StrCat(array->shape.element_count(), " elements, where ",
                                     shape.element_count(), " are needed"));
  }
  if (!(array->shape == shape)) {
    return InvalidField(absl::StrCat(array->field, ".shape"), "is not that which is needed");
  }
  place = array->data;
  return absl::OkStatus();
}

// The plan's description of x, which without y has columns.
absl::Status DescribeX(const InputArray& x, bool has_y, kernels::ArrayDescription& description) {
  if (has_y) {
    description =
        kernels::ArrayDescription::Vector(x.description.element_type, x.description.element_count);
    return absl::OkStatus();
  }
  description = x.shaped().description();
  const int dimension_count = x.shape.dimension_count();
  if (dimension_count == 1 || dimension_count == 2) return absl::OkStatus();
  return InvalidField(
      x.field, absl::StrCat(dimension_count, " dimensions, where one with columns has 1 or 2"));
}

absl::Status HoldArrays(const v1::RelateArraysRequest& request, const PlanningContext& context,
                        PlannedPaired& planned) {
  const absl::StatusOr<InputArray> x = HoldArray(request.x(), "x", context, planned);
  if (!x.ok()) return x.status();
  planned.input.x = x->data;
  absl::Status status = DescribeX(*x, request.has_y(), planned.plan.x);
  if (status.ok() && request.has_y()) {
    status = HoldCompanion(request.y(), "y", x->shape, context, planned, planned.input.y);
  }
  if (!status.ok() || !request.has_weights()) return status;
  const bool is_of_rows = planned.plan.x.is_matrix;
  const kernels::Shape shape = is_of_rows ? kernels::Shape{planned.plan.x.rows} : x->shape;
  return HoldCompanion(request.weights(), "weights", shape, context, planned,
                       planned.input.weights);
}

absl::Status ConvertSpec(const v1::RelateArraysRequest& request, kernels::PairedSpec& spec) {
  if (request.statistics_size() > kernels::kPairedStatisticCount) {
    return InvalidField("statistics", "some are asked for twice");
  }
  for (int i = 0; i < request.statistics_size(); ++i) {
    const auto statistic = FromWire(request.statistics(i), absl::StrCat("statistics[", i, "]"));
    if (!statistic.ok()) return statistic.status();
    spec.statistics.push_back(*statistic);
  }
  spec.has_y = request.has_y();
  spec.has_weights = request.has_weights();
  spec.delta_degrees_of_freedom = request.delta_degrees_of_freedom();
  return FirstError(
      Assign(FromWire(request.weight_kind(), "weight_kind"), spec.weight_kind),
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), spec.overflow_policy));
}

}  // namespace

absl::StatusOr<PlannedPaired> PlanRequest(const v1::RelateArraysRequest& request,
                                          const PlanningContext& context) {
  PlannedPaired planned;
  kernels::PairedSpec spec;
  absl::Status status = HoldArrays(request, context, planned);
  if (status.ok()) status = ConvertSpec(request, spec);
  if (!status.ok()) return status;
  absl::StatusOr<kernels::PairedPlan> plan = kernels::PlanPaired(planned.plan.x, std::move(spec));
  if (status = CheckPlan(plan, context.limits); !status.ok()) return status;
  planned.plan = *std::move(plan);
  return planned;
}

}  // namespace gridfold::server
