#include "server/planning/request_validation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_validation.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

absl::Status ConvertStatistics(const v1::ReduceArrayRequest& request,
                               std::vector<kernels::Statistic>& statistics) {
  if (request.statistics_size() > kernels::kStatisticCount) {
    return InvalidField("statistics",
                        absl::StrCat(request.statistics_size(), " entries, where there are only ",
                                     kernels::kStatisticCount, " statistics"));
  }
  for (int i = 0; i < request.statistics_size(); ++i) {
    const absl::StatusOr<kernels::Statistic> statistic =
        FromWire(request.statistics(i), absl::StrCat("statistics[", i, "]"));
    if (!statistic.ok()) return statistic.status();
    statistics.push_back(*statistic);
  }
  return absl::OkStatus();
}

// Everything that the request says of the operation.
absl::Status ConvertSpec(const v1::ReduceArrayRequest& request,
                         const kernels::ArrayDescription& array, const Limits& limits,
                         kernels::ReductionSpec& spec) {
  spec.delta_degrees_of_freedom = request.delta_degrees_of_freedom();
  spec.return_states = request.return_accumulator();
  return FirstError(
      ConvertStatistics(request, spec.statistics),
      Assign(ValidateGrouping(request.grouping(), array, limits), spec.grouping),
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), spec.overflow_policy));
}

// The last element's index must be one.
absl::Status ValidateFirstIndex(const v1::ReduceArrayRequest& request, const InputArray& array) {
  if (request.first_index() <= kernels::kNoIndex - array.description.element_count) {
    return absl::OkStatus();
  }
  return InvalidField("first_index", "the indices of the elements do not fit in 64 bits");
}

}  // namespace

absl::Status RequireEngine(absl::string_view field, std::optional<uint32_t> needed,
                           absl::string_view whole, std::optional<uint32_t>& engine) {
  if (!needed) return absl::OkStatus();
  if (!engine) engine = needed;
  if (*needed == *engine) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("lies on device ", *needed, ", another array of the ",
                                          whole, " on device ", *engine));
}

absl::StatusOr<PlannedReduction> PlanRequest(const v1::ReduceArrayRequest& request,
                                             const PlanningContext& context) {
  const Limits& limits = context.limits;
  absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array", context);
  if (!array.ok()) return array.status();
  kernels::ReductionSpec spec;
  const absl::Status converted = FirstError(ConvertSpec(request, array->description, limits, spec),
                                            ValidateFirstIndex(request, *array));
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::ReductionPlan> plan =
      kernels::PlanReduction(array->description, std::move(spec));
  if (absl::Status status = CheckPlan(plan, limits); !status.ok()) return status;
  if (array->is_sharded()) {
    absl::Status status = kernels::DealtReduction::Check(*plan, CutsOf(array->resident->shards));
    if (!status.ok()) return status;
  }
  return PlannedReduction{*std::move(plan), *std::move(array), request.first_index()};
}

absl::StatusOr<kernels::ReductionFoldSpec> PlanStream(const v1::ReduceArrayRequest& request,
                                                      const Limits& limits) {
  absl::StatusOr<kernels::ArrayDescription> array = ValidateStreamedArray(request.array(), "array");
  if (!array.ok()) return array.status();
  const auto& offsets = request.grouping().segments().offsets();
  if (!array->is_matrix && !offsets.empty()) array->element_count = *offsets.rbegin();
  kernels::ReductionSpec spec;
  if (absl::Status status = ConvertSpec(request, *array, limits, spec); !status.ok()) return status;
  // Parts are merged, whether their accumulator is asked for or not.
  spec.return_states = true;
  absl::StatusOr<kernels::ReductionPlan> plan = kernels::PlanReduction(*array, std::move(spec));
  if (!plan.ok()) return plan.status();
  plan->return_states = request.return_accumulator();
  if (absl::Status status = CheckAnswerSize(*plan, limits); !status.ok()) return status;
  const uint64_t group_count_max = AnsweredGroupsMax(*plan, limits);
  return kernels::ReductionFoldSpec{.plan = *std::move(plan),
                                    .first_index = request.first_index(),
                                    .lane = limits.lane(),
                                    .group_count_max = group_count_max};
}

absl::StatusOr<PlannedMerge> PlanRequest(const v1::MergeAccumulatorsRequest& request,
                                         const PlanningContext& context) {
  if (request.accumulators().empty()) {
    return InvalidField("accumulators", "at least one is needed");
  }
  return PlannedMerge{{request.accumulators().begin(), request.accumulators().end()},
                      request.partial(),
                      context.limits};
}

}  // namespace gridfold::server
