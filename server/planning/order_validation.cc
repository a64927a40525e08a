// Plans order statistics: PlanRequest of quantiles, and of the largest or smallest elements.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/weighted_quantiles.h"
#include "server/planning/array_validation.h"
#include "server/planning/axes_validation.h"
#include "server/planning/request_validation.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

absl::StatusOr<InputArray> ValidateWholeArray(const v1::ArraySource& source,
                                              const PlanningContext& context) {
  absl::StatusOr<InputArray> array = ValidateArray(source, "array", context);
  if (!array.ok()) return array;
  if (array->is_bool) {
    return InvalidField(array->type_field(), "bool has no order statistics: they are counts");
  }
  return array;
}

// Before they are copied.
absl::Status CheckTargetCount(const v1::ComputeQuantilesRequest& request) {
  constexpr int kMax = static_cast<int>(kernels::kQuantilesMax);
  if (request.quantiles_size() <= kMax && request.ranks_size() <= kMax) return absl::OkStatus();
  const bool is_quantiles = request.quantiles_size() > kMax;
  return kernels::AboveLimit(
      is_quantiles ? "quantiles" : "ranks",
      absl::StrCat(is_quantiles ? request.quantiles_size() : request.ranks_size(),
                   " are more than the ", kMax, " that a request may have"));
}

absl::Status ConvertMethod(const v1::ComputeQuantilesRequest& request,
                           kernels::QuantileMethod& method) {
  if (!request.has_weights()) {
    if (request.method() == v1::QUANTILE_METHOD_INVERTED_CDF) {
      return InvalidField("method", "inverted_cdf is that of weights, and there are none");
    }
    return Assign(FromWire(request.method(), "method"), method);
  }
  if (request.ranks_size() > 0) return InvalidField("ranks", "not with weights");
  if (request.method() == v1::QUANTILE_METHOD_UNSPECIFIED ||
      request.method() == v1::QUANTILE_METHOD_INVERTED_CDF) {
    return absl::OkStatus();
  }
  return InvalidField("method", "with weights it is inverted_cdf");
}

absl::Status ConvertSpec(const v1::ComputeQuantilesRequest& request, kernels::QuantileSpec& spec) {
  if (absl::Status status = CheckTargetCount(request); !status.ok()) return status;
  spec.quantiles.assign(request.quantiles().begin(), request.quantiles().end());
  spec.ranks.assign(request.ranks().begin(), request.ranks().end());
  return FirstError(ConvertMethod(request, spec.method),
                    Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy));
}

// The weights of the elements of `array`, which have yet to be gathered with it.
absl::Status HoldWeights(const v1::ArraySource& source, const InputArray& array,
                         const PlanningContext& context, PlannedQuantiles& planned) {
  absl::StatusOr<InputArray> weights = ValidateArray(source, "weights", context);
  if (!weights.ok()) return weights.status();
  if (weights->is_bool) return InvalidField(weights->type_field(), "no bool: send uint8");
  const uint64_t count = weights->description.element_count;
  if (count != array.description.element_count) {
    return InvalidField(weights->count_field(), absl::StrCat(count, " elements, where `array` has ",
                                                             array.description.element_count));
  }
  planned.weights = *std::move(weights);
  return absl::OkStatus();
}

absl::StatusOr<kernels::QuantilePlan> PlanWithWeights(const kernels::ArrayDescription& array,
                                                      const InputArray& weights,
                                                      kernels::QuantileSpec spec) {
  absl::StatusOr<kernels::WeightedQuantilePlan> plan =
      kernels::PlanWeightedQuantiles(array, weights.description,
                                     {.quantiles = std::move(spec.quantiles),
                                      .grouping = std::move(spec.grouping),
                                      .nan_policy = spec.nan_policy});
  if (!plan.ok()) return plan.status();
  return std::move(plan->elements);
}

InputArray* WeightsOf(PlannedQuantiles& planned) {
  return planned.weights ? &*planned.weights : nullptr;
}
InputArray* WeightsOf(PlannedTop&) { return nullptr; }

// The copies of the inputs, where they do not lie on one device, and where the groups need some.
template <class Planned>
absl::Status PlanCopies(const PlannedGroups& groups, InputArray& array,
                        const PlanningContext& context, Planned& planned) {
  InputArray* const weights = WeightsOf(planned);
  InputArray* const inputs[] = {&array, weights};
  absl::Status status = Gather(inputs, std::nullopt, context, planned.gather);
  if (!status.ok() || !groups.rearrangement) return status;
  uint64_t copied_bytes = groups.array.size_bytes();
  if (weights != nullptr) copied_bytes += weights->description.size_bytes();
  return Assign(PlanRearrangement(*groups.rearrangement, copied_bytes, EngineOf(inputs), context),
                planned.rearrangement);
}

// What an operation has beside its spec, once its groups are planned.
template <class Planned, class Plan>
absl::StatusOr<Planned> Complete(absl::StatusOr<Plan> plan, const PlannedGroups& groups,
                                 InputArray array, const PlanningContext& context,
                                 Planned planned) {
  absl::Status status = CheckPlan(plan, context.limits);
  if (status.ok()) status = PlanCopies(groups, array, context, planned);
  if (!status.ok()) return status;
  planned.plan = *std::move(plan);
  planned.input = std::move(array);
  return planned;
}

}  // namespace

absl::StatusOr<PlannedQuantiles> PlanRequest(const v1::ComputeQuantilesRequest& request,
                                             const PlanningContext& context) {
  absl::StatusOr<InputArray> array = ValidateWholeArray(request.array(), context);
  if (!array.ok()) return array.status();
  PlannedQuantiles planned;
  kernels::QuantileSpec spec;
  PlannedGroups groups;
  absl::Status status = FirstError(
      ConvertSpec(request, spec),
      Assign(PlanContiguousGroups(request.grouping(), array->shaped(), context.limits), groups),
      Assign(PlanResultShape(request.grouping(), array->shape, request.keep_dimensions()),
             planned.result_shape));
  if (status.ok() && request.has_weights()) {
    status = HoldWeights(request.weights(), *array, context, planned);
  }
  if (!status.ok()) return status;
  spec.grouping = std::move(groups.grouping);
  absl::StatusOr<kernels::QuantilePlan> plan =
      planned.weights ? PlanWithWeights(groups.array, *planned.weights, std::move(spec))
                      : kernels::PlanQuantiles(groups.array, std::move(spec));
  return Complete(std::move(plan), groups, *std::move(array), context, std::move(planned));
}

absl::StatusOr<PlannedTop> PlanRequest(const v1::SelectTopRequest& request,
                                       const PlanningContext& context) {
  absl::StatusOr<InputArray> array = ValidateWholeArray(request.array(), context);
  if (!array.ok()) return array.status();
  PlannedTop planned;
  kernels::TopSpec spec{.count = request.count(), .smallest = request.smallest()};
  PlannedGroups groups;
  const absl::Status status = FirstError(
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(PlanContiguousGroups(request.grouping(), array->shaped(), context.limits), groups),
      Assign(PlanResultShape(request.grouping(), array->shape, /*keep_dimensions=*/false),
             planned.group_shape));
  if (!status.ok()) return status;
  spec.grouping = std::move(groups.grouping);
  return Complete(kernels::PlanTop(groups.array, std::move(spec)), groups, *std::move(array),
                  context, std::move(planned));
}

}  // namespace gridfold::server
