#include "server/planning/keyed_validation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/histogram_fold.h"
#include "kernels/numerics/bins/axes.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_validation.h"
#include "server/planning/bin_rule_validation.h"
#include "server/planning/request_validation.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// The arrays of a request, in the order of PlannedKeyedReduction::gather; all have as many elements
// as the keys.
class ArrayHolder {
 public:
  explicit ArrayHolder(const PlanningContext& context) : context_(context) {}

  absl::Status Hold(const v1::ArraySource& source, absl::string_view field,
                    kernels::ArrayDescription& description) {
    absl::StatusOr<InputArray> array = ValidateArray(source, field, context_);
    if (!array.ok()) return array.status();
    if (array->is_bool) {
      return InvalidField(array->type_field(), "groups by key take no bool: send uint8");
    }
    const uint64_t element_count = array->description.element_count;
    if (!key_count_) key_count_ = element_count;
    if (element_count != *key_count_) {
      return InvalidField(array->count_field(),
                          absl::StrCat(element_count, " elements, where `keys` has ", *key_count_));
    }
    description = kernels::ArrayDescription::Vector(array->description.element_type, element_count);
    arrays_.push_back(*std::move(array));
    return absl::OkStatus();
  }

  // Gathers all, and takes them into the plan.
  absl::Status Settle(PlannedKeyedReduction& planned) {
    std::vector<InputArray*> inputs;
    for (InputArray& array : arrays_) inputs.push_back(&array);
    absl::Status status = Gather(inputs, std::nullopt, context_, planned.gather);
    if (!status.ok()) return status;
    planned.engine = EngineOf(inputs);
    server::Hold(arrays_.front(), planned.input.keys, planned);
    for (size_t i = 1; i + 1 < arrays_.size(); ++i) {
      server::Hold(arrays_[i], planned.input.further_keys.emplace_back(), planned);
    }
    server::Hold(arrays_.back(), planned.input.values, planned);
    return absl::OkStatus();
  }

 private:
  const PlanningContext& context_;
  std::optional<uint64_t> key_count_;
  std::vector<InputArray> arrays_;
};

// The further coordinates of bins, in the order of the dimensions, and the paths of their fields.
struct FurtherKeys {
  std::vector<const v1::ArraySource*> sources;
  std::vector<std::string> fields;
};

FurtherKeys FurtherKeysOf(const v1::ReduceByKeyRequest& request) {
  FurtherKeys further;
  const v1::KeyBins& bins = request.bins();
  if (bins.has_y_keys()) {
    further.sources.push_back(&bins.y_keys());
    further.fields.emplace_back("bins.y_keys");
  }
  for (int i = 0; i < bins.further_keys_size(); ++i) {
    further.sources.push_back(&bins.further_keys(i));
    further.fields.push_back(absl::StrCat("bins.further_keys[", i, "]"));
  }
  return further;
}

// Before any of them is looked at.
absl::Status CheckAxisCount(const FurtherKeys& further) {
  const size_t axis_count = 1 + further.sources.size();
  if (axis_count <= kernels::kBinAxesMax) return absl::OkStatus();
  return kernels::AboveLimit(
      "bins.further_keys",
      absl::StrCat(axis_count, " dimensions are more than ", kernels::kBinAxesMax));
}

absl::Status ConvertBins(const v1::KeyBins& request,
                         std::vector<kernels::ElementType> further_types,
                         kernels::KeyBinsSpec& bins) {
  if (request.bins_size() > static_cast<int>(kernels::kBinAxesMax)) {
    return InvalidField("bins.bins", absl::StrCat(request.bins_size(), " entries, where 1 or ",
                                                  1 + further_types.size(), " are needed"));
  }
  for (int i = 0; i < request.bins_size(); ++i) {
    std::optional<kernels::BinSpec> spec = FromWire(request.bins(i));
    if (!spec) return InvalidField(absl::StrCat("bins.bins[", i, "]"), "no layout is given");
    bins.bins.push_back(*std::move(spec));
  }
  bins.further_types = std::move(further_types);
  if (absl::Status status = RefuseRules(request.bins(), "bins.bins", "groups by key");
      !status.ok()) {
    return status;
  }
  return Assign(FromWire(request.out_of_range_policy(), "bins.out_of_range_policy"),
                bins.out_of_range_policy);
}

absl::Status ConvertGroups(const v1::ReduceByKeyRequest& request,
                           std::vector<kernels::ElementType> further_types,
                           kernels::KeyGroupsSpec& groups) {
  switch (request.groups_case()) {
    case v1::ReduceByKeyRequest::kRange:
      groups = kernels::KeyRangeSpec{.first_key = request.range().first_key(),
                                     .key_count = request.range().key_count(),
                                     .first_unsigned_key = request.range().first_unsigned_key()};
      return absl::OkStatus();
    case v1::ReduceByKeyRequest::kFound:
      groups = kernels::FoundKeysSpec{.key_count_max = request.found().key_count_max()};
      return absl::OkStatus();
    case v1::ReduceByKeyRequest::kBins:
      return ConvertBins(request.bins(), std::move(further_types),
                         groups.emplace<kernels::KeyBinsSpec>());
    case v1::ReduceByKeyRequest::GROUPS_NOT_SET: break;
  }
  return InvalidField("groups", "none of range, found and bins is given");
}

absl::Status ConvertSpec(const v1::ReduceByKeyRequest& request,
                         std::vector<kernels::ElementType> further_types,
                         kernels::KeyedReductionSpec& spec) {
  kernels::ReductionSpec& reduction = spec.reduction;
  reduction.delta_degrees_of_freedom = request.delta_degrees_of_freedom();
  reduction.return_states = request.return_accumulator();
  if (request.quantiles_size() > static_cast<int>(kernels::kQuantilesMax)) {  // Before a copy.
    return kernels::AboveLimit(
        "quantiles",
        absl::StrCat(request.quantiles_size(), " are more than ", kernels::kQuantilesMax));
  }
  spec.quantiles.assign(request.quantiles().begin(), request.quantiles().end());
  return FirstError(
      ConvertStatistics(request.statistics(), reduction.statistics),
      ConvertOutputType(request, reduction.output_type),
      Assign(FromWire(request.quantile_method(), "quantile_method"), spec.quantile_method),
      Assign(FromWire(request.nan_policy(), "nan_policy"), reduction.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), reduction.overflow_policy),
      ConvertGroups(request, std::move(further_types), spec.groups));
}

// The arrays' types and sizes into `planned`, and where they lie.
absl::Status HoldArrays(const v1::ReduceByKeyRequest& request, const PlanningContext& context,
                        PlannedKeyedReduction& planned,
                        std::vector<kernels::ElementType>& further_types) {
  ArrayHolder holder(context);
  const FurtherKeys further = FurtherKeysOf(request);
  absl::Status status = CheckAxisCount(further);
  if (status.ok()) {
    status = holder.Hold(request.keys(), "keys", planned.plan.keys);
  }
  for (size_t i = 0; i < further.sources.size() && status.ok(); ++i) {
    kernels::ArrayDescription keys;
    status = holder.Hold(*further.sources[i], further.fields[i], keys);
    further_types.push_back(keys.element_type);
  }
  if (status.ok()) {
    status = holder.Hold(request.values(), "values", planned.plan.reduction.array);
  }
  return status.ok() ? holder.Settle(planned) : status;
}

// An array of a stream.
absl::Status ValidateStreamed(const v1::ArraySource& source, absl::string_view field,
                              kernels::ArrayDescription& description) {
  const absl::StatusOr<kernels::ShapedArray> array = ValidateStreamedArray(source, field);
  if (!array.ok()) return array.status();
  description = kernels::ArrayDescription::Vector(array->element_type, 0);
  return FirstError(RefuseRows(source, field, "keys and values have no rows"),
                    RefuseBool(source, field));
}

absl::Status ValidateStreamedYKeys(const v1::ReduceByKeyRequest& request,
                                   std::vector<kernels::ElementType>& further_types) {
  if (request.bins().further_keys_size() > 0) {
    return InvalidField("bins.further_keys", "a stream has bins of two dimensions at most");
  }
  if (!request.bins().has_y_keys()) return absl::OkStatus();
  kernels::ArrayDescription y_keys;
  absl::Status status = ValidateStreamed(request.bins().y_keys(), "bins.y_keys", y_keys);
  further_types.push_back(y_keys.element_type);
  return status;
}

// Whether keys can come in pieces at all.
absl::Status CheckBounds(const kernels::KeyedReductionPlan& plan) {
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const absl::Status status = kernels::HistogramFold::Check(plan.axes[axis]);
    if (status.ok()) continue;
    return InvalidField(kernels::FieldOf(kernels::OfKeyAxis(axis, status)),
                        "the range follows from all keys, so a stream needs its bounds");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PlannedKeyedReduction> PlanRequest(const v1::ReduceByKeyRequest& request,
                                                  const PlanningContext& context) {
  PlannedKeyedReduction planned{
      .plan = {}, .input = {}, .leases = {}, .regions = {}, .engine = {}, .arrays = context.arrays};
  kernels::KeyedReductionSpec spec;
  std::vector<kernels::ElementType> further_types;
  absl::Status status = HoldArrays(request, context, planned, further_types);
  if (status.ok()) status = ConvertSpec(request, std::move(further_types), spec);
  if (!status.ok()) return status;
  absl::StatusOr<kernels::KeyedReductionPlan> plan =
      kernels::OutlineKeyedReduction(planned.plan.keys, planned.plan.reduction.array,
                                     std::move(spec), context.limits.group_count_max);
  if (!plan.ok()) return plan.status();
  BoundFoundKeys(context.limits, *plan);
  if (status = CheckAnswerSize(*plan, context.limits); !status.ok()) return status;
  if (request.first_index() > kernels::kNoIndex - plan->keys.element_count) {
    return InvalidField("first_index", "the indices of the elements do not fit in 64 bits");
  }
  planned.room_engine = planned.engine ? *planned.engine : context.arrays.EngineWithMostRoom();
  planned.plan = *std::move(plan);
  planned.first_index = request.first_index();
  planned.key_count_max = request.found().key_count_max();
  return planned;
}

absl::StatusOr<PlannedKeyedStream> PlanStream(const v1::ReduceByKeyRequest& request,
                                              const Limits& limits) {
  kernels::ArrayDescription keys;
  kernels::ArrayDescription values;
  kernels::KeyedReductionSpec spec;
  std::vector<kernels::ElementType> further_types;
  absl::Status status = ValidateStreamed(request.keys(), "keys", keys);
  if (status.ok()) status = ValidateStreamedYKeys(request, further_types);
  if (status.ok()) status = ValidateStreamed(request.values(), "values", values);
  if (status.ok()) status = ConvertSpec(request, std::move(further_types), spec);
  if (!status.ok()) return status;
  // Parts are merged, whether their accumulator is asked for or not.
  spec.reduction.return_states = true;
  absl::StatusOr<kernels::KeyedReductionPlan> plan =
      kernels::OutlineKeyedReduction(keys, values, std::move(spec), limits.group_count_max);
  if (!plan.ok()) return plan.status();
  plan->reduction.return_states = request.return_accumulator();
  BoundFoundKeys(limits, *plan);
  status = FirstError(CheckBounds(*plan), CheckAnswerSize(*plan, limits));
  if (!status.ok()) return status;
  return PlannedKeyedStream{.plan = *std::move(plan),
                            .first_index = request.first_index(),
                            .key_count_max = request.found().key_count_max()};
}

}  // namespace gridfold::server
