#include "server/planning/request_validation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/axes.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/reduction_checks.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_validation.h"
#include "server/planning/axes_validation.h"
#include "server/planning/selection_validation.h"
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
      ConvertStrategy(request, spec.strategy), ConvertOutputType(request, spec.output_type),
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), spec.overflow_policy));
}

absl::StatusOr<Tolerance> ReadTolerance(const v1::ReduceArrayRequest& request,
                                        kernels::ReductionSpec& spec) {
  Tolerance tolerance;
  absl::Status status = Assign(FromWire(request.empty_group(), "empty_group"), tolerance.rule);
  if (!status.ok()) return status;
  tolerance.ddof = spec.delta_degrees_of_freedom;
  if (!request.has_fractional_degrees_of_freedom()) return tolerance;
  if (spec.delta_degrees_of_freedom != 0) {
    return InvalidField("fractional_degrees_of_freedom",
                        "not together with delta_degrees_of_freedom");
  }
  tolerance.ddof = request.fractional_degrees_of_freedom();
  if (kernels::IsWholeDdof(tolerance.ddof)) {
    spec.delta_degrees_of_freedom = static_cast<uint32_t>(tolerance.ddof);
  }
  return tolerance;
}

// For those that join the states of parts.
absl::Status RefuseTolerance(const Tolerance& tolerance, absl::string_view description) {
  if (tolerance.rule.policy != kernels::EmptyGroupPolicy::kError) {
    return InvalidField("empty_group", description);
  }
  if (!kernels::IsWholeDdof(tolerance.ddof)) {
    return InvalidField("fractional_degrees_of_freedom", description);
  }
  return absl::OkStatus();
}

// States of groups whose argmin may be missing, which an answer would have room for.
absl::Status CheckPlaces(const kernels::TolerantReduction& reduction, const Limits& limits) {
  const kernels::ReductionPlan& places = reduction.places_plan();
  if (places.statistics.empty() || AnswerBytes(places) <= limits.message_bytes_max) {
    return absl::OkStatus();
  }
  return kernels::AboveLimit(
      "empty_group",
      "so many groups cannot have an argmin or argmax that may be missing where NaN "
      "is ignored");
}

// The plan of groups, `tolerant` too where it takes more than that.
absl::Status PlanValues(const v1::ReduceArrayRequest& request,
                        const kernels::ArrayDescription& array, kernels::ReductionSpec spec,
                        const Limits& limits, PlannedReduction& planned) {
  const absl::StatusOr<Tolerance> tolerance = ReadTolerance(request, spec);
  if (!tolerance.ok()) return tolerance.status();
  if (RefuseTolerance(*tolerance, "").ok()) {
    return FirstError(Assign(kernels::PlanReduction(array, std::move(spec)), planned.plan));
  }
  if (spec.return_states) {
    return RefuseTolerance(*tolerance, "not with return_accumulator: the merge has its values");
  }
  absl::StatusOr<kernels::TolerantReduction> reduction =
      kernels::TolerantReduction::Plan(array, std::move(spec), tolerance->rule, tolerance->ddof);
  if (!reduction.ok()) return reduction.status();
  planned.plan = reduction->plan();
  if (reduction->is_plain()) return absl::OkStatus();
  if (absl::Status status = CheckPlaces(*reduction, limits); !status.ok()) return status;
  planned.tolerant = *std::move(reduction);
  return absl::OkStatus();
}

// Whether there is a place for the states of all parts: in the lanes, or, of columns, beside the
// resident arrays, unless the copies that one device needs of the others' elements take less.
bool CanKeepStates(const PlannedReduction& planned, const Limits& limits) {
  const uint64_t state_bytes = kernels::DealtStateBytes(planned.plan);
  if (state_bytes <= limits.lane().output_bytes_max) return true;
  return kernels::DealtReduction::CanHaveRoom(planned.plan) &&
         state_bytes <= planned.plan.array.size_bytes() / planned.input.resident->shards.size() /
                            kShardBytesPerStateByte;
}

// Whether the devices that have the array reduce their shards by themselves.
bool CanBeDealt(const PlannedReduction& planned, const PlannedGroups& groups,
                const Limits& limits) {
  return !groups.rearrangement && !planned.tolerant && CanKeepStates(planned, limits) &&
         kernels::DealtReduction::Check(planned.plan, CutsOf(planned.input.resident->shards)).ok();
}

// Statistics of which an element more changes what NumPy's `initial` does.
bool TakesInitial(kernels::Statistic statistic) {
  using kernels::Statistic;
  return statistic == Statistic::kSum || statistic == Statistic::kProduct ||
         statistic == Statistic::kMin || statistic == Statistic::kMax ||
         statistic == Statistic::kAll || statistic == Statistic::kAny;
}

absl::Status CheckInitial(const v1::ReduceArrayRequest& request,
                          const kernels::ReductionSpec& spec) {
  for (const kernels::Statistic statistic : spec.statistics) {
    if (TakesInitial(statistic)) continue;
    return InvalidField("initial", absl::StrCat(kernels::StatisticName(statistic),
                                                " does not begin with an element"));
  }
  if (request.return_accumulator()) {
    return InvalidField("initial", "each part would have it: not with return_accumulator");
  }
  return absl::OkStatus();
}

// Groups that stand together, after the rearrangement if there is one.
absl::StatusOr<PlannedGroups> PlanGroupsAsRows(const v1::ReduceArrayRequest& request,
                                               const InputArray& array, const Limits& limits) {
  absl::StatusOr<PlannedGroups> groups = PlanGroups(request.grouping(), array.shaped(), limits);
  if (!groups.ok() || groups->grouping.kind != kernels::GroupingKind::kAxis0) return groups;
  const absl::StatusOr<RequestedGroups> requested =
      ValidateGroups(request.grouping(), array.shape.dimension_count());
  if (!requested.ok()) return requested.status();
  kernels::AxesPlan plan = kernels::PlanContiguousAxes(array.shaped(), requested->axes);
  return PlannedGroups{plan.array, {plan.grouping, {}}, std::move(plan.rearrangement)};
}

// A reduction of the elements that count, of `planned.input`.
absl::StatusOr<PlannedReduction> PlanSelected(const v1::ReduceArrayRequest& request,
                                              kernels::ReductionSpec spec,
                                              const PlanningContext& context,
                                              PlannedReduction planned) {
  InputArray& array = planned.input;
  if (request.has_where() && request.return_accumulator()) {
    return InvalidField("where", "not with return_accumulator");
  }
  absl::StatusOr<PlannedSelection> selection =
      PlanSelection(request.has_where() ? &request.where() : nullptr, array, context);
  if (!selection.ok()) return selection.status();
  if (request.has_initial()) {
    absl::Status status =
        FirstError(CheckInitial(request, spec),
                   Assign(PlanInitial(request.initial(), array), selection->initial));
    if (!status.ok()) return status;
  }
  absl::StatusOr<PlannedGroups> groups = PlanGroupsAsRows(request, array, context.limits);
  if (!groups.ok()) return groups.status();
  absl::Status status = Assign(ReadTolerance(request, spec), planned.tolerance);
  if (!status.ok()) return status;
  spec.grouping = std::move(groups->grouping);
  selection->order = std::move(groups->rearrangement);
  status = FirstError(
      Assign(kernels::PlanGroupsOfAnySize(groups->array, std::move(spec)), planned.plan));
  if (status.ok()) status = CheckAnswerSize(planned.plan, context.limits);
  if (!status.ok()) return status;
  status = Gather({&array, MaskOf(*selection)}, std::nullopt, context, planned.gather);
  if (!status.ok()) return status;
  const uint64_t initial_count = selection->initial ? planned.plan.grouping.group_count : 0;
  status = PlanRoom(kernels::ElementSize(planned.plan.array.element_type),
                    array.description.element_count + initial_count, array.engine(), context,
                    *selection);
  if (!status.ok()) return status;
  planned.selection = *std::move(selection);
  return planned;
}

// Whether a group's elements must be taken in their order: where the answer says which one it is,
// and where each step of it is rounded.
bool KeepsOrder(const kernels::ReductionSpec& spec) {
  using kernels::Statistic;
  return std::any_of(spec.statistics.begin(), spec.statistics.end(), [](Statistic statistic) {
    return statistic == Statistic::kArgmin || statistic == Statistic::kArgmax ||
           statistic == Statistic::kProduct;
  });
}

// Groups of a view are those of the array around it, as it lies in memory, or of a copy in another
// order. Views with gaps of several devices are left to Gather.
void TakeGroupsOfView(const v1::ReduceArrayRequest& request, const kernels::ReductionSpec& spec,
                      InputArray& array, PlannedGroups& groups) {
  if (!array.is_view()) return;
  std::optional<PlannedGroups> of_view = PlanGroupsOfView(
      request.grouping(), array.description.element_type, *array.resident->view, KeepsOrder(spec));
  if (!of_view || (array.is_sharded() && of_view->rearrangement)) return;
  groups = *std::move(of_view);
  array.resident->view.reset();
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

absl::StatusOr<PlannedReduction> PlanRequest(const v1::ReduceArrayRequest& request,
                                             const PlanningContext& context) {
  const Limits& limits = context.limits;
  absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array", context);
  if (!array.ok()) return array.status();
  PlannedReduction planned;
  kernels::ReductionSpec spec;
  PlannedGroups groups;
  if (request.has_where() || request.has_initial()) {
    const absl::Status selected = FirstError(
        ConvertSpec(request, spec),
        Assign(PlanResultShape(request.grouping(), array->shape, request.keep_dimensions()),
               planned.result_shape),
        ValidateFirstIndex(request, *array));
    if (!selected.ok()) return selected;
    planned.input = *std::move(array);
    planned.first_index = request.first_index();
    return PlanSelected(request, std::move(spec), context, std::move(planned));
  }
  const absl::Status converted = FirstError(
      ConvertSpec(request, spec),
      Assign(PlanGroups(request.grouping(), array->shaped(), limits), groups),
      Assign(PlanResultShape(request.grouping(), array->shape, request.keep_dimensions()),
             planned.result_shape),
      ValidateFirstIndex(request, *array));
  if (!converted.ok()) return converted;
  TakeGroupsOfView(request, spec, *array, groups);
  if (array->is_sharded()) MakeRowAColumn(groups);
  spec.grouping = std::move(groups.grouping);
  planned.input = *std::move(array);
  absl::Status status = PlanValues(request, groups.array, std::move(spec), limits, planned);
  if (status.ok()) status = CheckAnswerSize(planned.plan, limits);
  if (status.ok() && (planned.input.is_sharded() || planned.input.is_view())) {
    const bool is_dealt = !planned.input.is_view() && CanBeDealt(planned, groups, limits);
    if (is_dealt) planned.state_arrays = context.arrays;
    status = is_dealt ? RefuseStrategy(request, "a sharded array")
                      : Gather({&planned.input}, std::nullopt, context, planned.gather);
  }
  if (status.ok() && groups.rearrangement) {
    status = Assign(PlanRearrangement(*groups.rearrangement, groups.array.size_bytes(),
                                      planned.input.engine(), context),
                    planned.rearrangement);
    planned.in_place = groups.in_place;
  }
  if (!status.ok()) return status;
  planned.first_index = request.first_index();
  return planned;
}

absl::StatusOr<PlannedRearrangement> PlanRearrangement(const kernels::Rearrangement& order,
                                                       uint64_t room_bytes,
                                                       std::optional<uint32_t> engine,
                                                       const PlanningContext& context) {
  const uint64_t room_bytes_max =
      std::min(context.limits.resident_bytes_max, context.limits.tenant_bytes_max());
  if (room_bytes > room_bytes_max) {
    return kernels::LargerThanALane(
        absl::StrCat("the array is copied into another order first, which takes ", room_bytes,
                     " bytes beside resident arrays, more than the ", room_bytes_max,
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
      ConvertSpec(request, spec), RefuseStrategy(request, "a stream"),
      Assign(PlanStreamedGroups(request.grouping(), *array, limits), groups),
      Assign(PlanResultShape(request.grouping(), array->shape, request.keep_dimensions()),
             planned.result_shape));
  if (!converted.ok()) return converted;
  const absl::StatusOr<Tolerance> tolerance = ReadTolerance(request, spec);
  if (!tolerance.ok()) return tolerance.status();
  if (absl::Status status = RefuseTolerance(*tolerance, "not in streams"); !status.ok()) {
    return status;
  }
  if (request.has_where()) {
    if (absl::Status status = ValidateStreamedMask(request.where()); !status.ok()) return status;
    if (request.return_accumulator()) return InvalidField("return_accumulator", "not with `where`");
  }
  if (request.has_initial()) return InvalidField("initial", "not in streams");
  // Parts are merged, whether their accumulator is asked for or not.
  spec.return_states = true;
  planned.is_bool = array->is_bool;
  planned.has_mask = request.has_where();
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
  PlannedMerge planned{.accumulators{request.accumulators().begin(), request.accumulators().end()},
                       .partial = request.partial(),
                       .output_type = {},
                       .limits = context.limits};
  absl::Status status = ConvertOutputType(request, planned.output_type);
  if (!status.ok()) return status;
  return planned;
}

absl::StatusOr<PlannedSubtraction> PlanRequest(const v1::SubtractAccumulatorsRequest& request,
                                               const PlanningContext& context) {
  if (request.minuend().empty()) return InvalidField("minuend", "required");
  if (request.subtrahends().empty()) return InvalidField("subtrahends", "at least one is needed");
  PlannedSubtraction planned{
      .minuend = request.minuend(),
      .subtrahends{request.subtrahends().begin(), request.subtrahends().end()},
      .partial = request.partial(),
      .output_type = {},
      .limits = context.limits};
  absl::Status status = ConvertOutputType(request, planned.output_type);
  if (!status.ok()) return status;
  return planned;
}

}  // namespace gridfold::server
