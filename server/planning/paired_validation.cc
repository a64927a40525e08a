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

// The array at `field`.
absl::StatusOr<InputArray> ValidateColumns(const v1::ArraySource& source, absl::string_view field,
                                           const PlanningContext& context) {
  absl::StatusOr<InputArray> array = ValidateArray(source, field, context);
  if (array.ok() && array->is_bool) {
    return InvalidField(array->type_field(), "truth values are not related: send uint8");
  }
  return array;
}

// An array of this type and shape, which goes with x.
absl::Status ValidateCompanion(const v1::ArraySource& source, absl::string_view field,
                               kernels::ElementType type, const kernels::Shape& shape,
                               const PlanningContext& context,
                               std::optional<InputArray>& companion) {
  absl::StatusOr<InputArray> array = ValidateColumns(source, field, context);
  if (!array.ok()) return array.status();
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
  companion = *std::move(array);
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
  absl::StatusOr<InputArray> x = ValidateColumns(request.x(), "x", context);
  if (!x.ok()) return x.status();
  const kernels::ElementType type = x->description.element_type;
  std::optional<InputArray> y;
  std::optional<InputArray> weights;
  absl::Status status = DescribeX(*x, request.has_y(), planned.plan.x);
  if (status.ok() && request.has_y()) {
    status = ValidateCompanion(request.y(), "y", type, x->shape, context, y);
  }
  if (status.ok() && request.has_weights()) {
    const bool is_of_rows = planned.plan.x.is_matrix;
    const kernels::Shape shape = is_of_rows ? kernels::Shape{planned.plan.x.rows} : x->shape;
    status = ValidateCompanion(request.weights(), "weights", type, shape, context, weights);
  }
  if (!status.ok()) return status;
  InputArray* const inputs[] = {&*x, y ? &*y : nullptr, weights ? &*weights : nullptr};
  status = Gather(inputs, std::nullopt, context, planned.gather);
  if (!status.ok()) return status;
  planned.engine = EngineOf(inputs);
  Hold(*x, planned.input.x, planned);
  if (y) Hold(*y, planned.input.y, planned);
  if (weights) Hold(*weights, planned.input.weights, planned);
  return absl::OkStatus();
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
