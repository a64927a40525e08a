#include "server/planning/request_validation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_validation.h"
#include "server/planning/axes_validation.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// Everything that the request says of the operation but for the groups.
absl::Status ConvertSpec(const v1::ReduceArrayRequest& request, kernels::ReductionSpec& spec) {
  spec.delta_degrees_of_freedom = request.delta_degrees_of_freedom();
  spec.return_states = request.return_accumulator();
  return FirstError(
      ConvertStatistics(request.statistics(), spec.statistics),
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

// A group of all elements is planned as a row where the array has further axes. On several devices
// it goes on from shard to shard: a column, which has the same values and which cuts may go
// through.
void MakeRowAColumn(PlannedGroups& groups) {
  if (groups.grouping.kind != kernels::GroupingKind::kAxis1 || groups.array.rows != 1) return;
  groups.grouping.kind = kernels::GroupingKind::kAxis0;
  groups.array =
      kernels::ArrayDescription::Matrix(groups.array.element_type, groups.array.columns, 1);
}

}  // namespace

absl::Status ConvertStatistics(const google::protobuf::RepeatedField<int>& from,
                               std::vector<kernels::Statistic>& statistics) {
  if (from.size() > kernels::kStatisticCount) {
    return InvalidField("statistics", absl::StrCat(from.size(), " entries, where there are only ",
                                                   kernels::kStatisticCount, " statistics"));
  }
  for (int i = 0; i < from.size(); ++i) {
    const absl::StatusOr<kernels::Statistic> statistic =
        FromWire(static_cast<v1::Statistic>(from.Get(i)), absl::StrCat("statistics[", i, "]"));
    if (!statistic.ok()) return statistic.status();
    statistics.push_back(*statistic);
  }
  return absl::OkStatus();
}

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
  PlannedReduction planned;
  kernels::ReductionSpec spec;
  PlannedGroups groups;
  const absl::Status converted = FirstError(
      ConvertSpec(request, spec),
      Assign(PlanGroups(request.grouping(), array->shaped(), limits), groups),
      Assign(PlanResultShape(request.grouping(), array->shape, request.keep_dimensions()),
             planned.result_shape),
      ValidateFirstIndex(request, *array));
  if (!converted.ok()) return converted;
  if (array->is_sharded()) MakeRowAColumn(groups);
  spec.grouping = std::move(groups.grouping);
  absl::StatusOr<kernels::ReductionPlan> plan =
      kernels::PlanReduction(groups.array, std::move(spec));
  absl::Status status = CheckPlan(plan, limits);
  if (status.ok() && groups.rearrangement) {
    status = FirstError(CheckIsOnOneDevice(*array),
                        Assign(PlanRearrangement(*groups.rearrangement, groups.array.size_bytes(),
                                                 array->engine(), context),
                               planned.rearrangement));
  } else if (status.ok() && array->is_sharded()) {
    status = kernels::DealtReduction::Check(*plan, CutsOf(array->resident->shards));
  }
  if (!status.ok()) return status;
  planned.plan = *std::move(plan);
  planned.input = *std::move(array);
  planned.first_index = request.first_index();
  return planned;
}

absl::Status CheckIsOnOneDevice(const InputArray& array) {
  if (!array.is_sharded()) return absl::OkStatus();
  return InvalidField("grouping",
                      "along these axes the array is copied into another order first, which a "
                      "sharded array is not");
}

absl::StatusOr<PlannedRearrangement> PlanRearrangement(const kernels::Rearrangement& order,
                                                       uint64_t room_bytes,
                                                       std::optional<uint32_t> engine,
                                                       const PlanningContext& context) {
  const uint64_t room_bytes_max =
      std::min(context.limits.resident_bytes_max, context.limits.tenant_bytes_max());
  if (room_bytes > room_bytes_max) {
    return kernels::LargerThanALane(
        absl::StrCat("along these axes the array is copied into another order first, which takes ",
                     room_bytes, " bytes beside resident arrays, more than the ", room_bytes_max,
                     " that a tenant may have on this server"));
  }
  return PlannedRearrangement{order, context.arrays,
                              engine ? *engine : context.arrays.EngineWithMostRoom()};
}

absl::StatusOr<PlannedReductionStream> PlanStream(const v1::ReduceArrayRequest& request,
                                                  const Limits& limits) {
  const absl::StatusOr<kernels::ShapedArray> array =
      ValidateStreamedArray(request.array(), "array");
  if (!array.ok()) return array.status();
  PlannedReductionStream planned;
  kernels::ReductionSpec spec;
  PlannedGroups groups;
  const absl::Status converted = FirstError(
      ConvertSpec(request, spec),
      Assign(PlanStreamedGroups(request.grouping(), *array, limits), groups),
      Assign(PlanResultShape(request.grouping(), array->shape, request.keep_dimensions()),
             planned.result_shape));
  if (!converted.ok()) return converted;
  // Parts are merged, whether their accumulator is asked for or not.
  spec.return_states = true;
  planned.keeps_first_extent = groups.grouping.kind == kernels::GroupingKind::kAxis1;
  spec.grouping = std::move(groups.grouping);
  absl::StatusOr<kernels::ReductionPlan> plan =
      kernels::PlanReduction(groups.array, std::move(spec));
  if (!plan.ok()) return plan.status();
  plan->return_states = request.return_accumulator();
  if (absl::Status status = CheckAnswerSize(*plan, limits); !status.ok()) return status;
  for (const uint64_t extent : array->shape.extents().subspan(1)) planned.row_elements *= extent;
  const uint64_t group_count_max = AnsweredGroupsMax(*plan, limits);
  planned.fold = {.plan = *std::move(plan),
                  .first_index = request.first_index(),
                  .lane = limits.lane(),
                  .group_count_max = group_count_max};
  return planned;
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
