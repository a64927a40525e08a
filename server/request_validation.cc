#include "server/request_validation.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/invalid_field.h"
#include "server/answer_size.h"
#include "server/array_request_validation.h"
#include "server/array_validation.h"
#include "server/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// Stores the value of `source` in `target`, or returns its error.
template <class Source, class Target>
absl::Status Assign(absl::StatusOr<Source> source, Target& target) {
  if (!source.ok()) return source.status();
  target = *std::move(source);
  return absl::OkStatus();
}

// The first error of several independent checks.
template <class... Statuses>
absl::Status FirstError(Statuses... statuses) {
  for (const absl::Status& status : {statuses...}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

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

absl::Status ConvertBins(const v1::ComputeHistogramRequest& request,
                         std::vector<kernels::BinSpec>& bins) {
  if (static_cast<uint64_t>(request.bins_size()) > kChannelCountMax) {
    return InvalidField("bins", absl::StrCat(request.bins_size(), " entries are more than the ",
                                             kChannelCountMax, " channels that are allowed"));
  }
  for (int i = 0; i < request.bins_size(); ++i) {
    std::optional<kernels::BinSpec> spec = FromWire(request.bins(i));
    if (!spec) return InvalidField(absl::StrCat("bins[", i, "]"), "no layout is given");
    bins.push_back(*std::move(spec));
  }
  return absl::OkStatus();
}

// The arrays of a histogram, with what keeps them.
struct HistogramArrays {
  kernels::HistogramInput input;
  std::vector<ArrayLease> leases;
  std::vector<RegionLease> regions;

  kernels::InputSpan Hold(const InputArray& array) {
    if (array.resident) leases.push_back(array.resident->lease);
    if (array.region != nullptr) regions.push_back(array.region);
    return array.data;
  }
};

// An array that accompanies the samples, one element for each.
absl::StatusOr<InputArray> ValidateCompanion(const v1::ArraySource& source, const char* field,
                                             const InputArray& samples,
                                             const PlanningContext& context) {
  absl::StatusOr<InputArray> companion =
      ValidateArray(source, field, context.arrays, context.regions);
  if (!companion.ok()) return companion.status();
  const uint64_t element_count = companion->description.element_count;
  if (element_count != samples.description.element_count) {
    return InvalidField(companion->count_field(),
                        absl::StrCat(element_count, " elements, where `array` has ",
                                     samples.description.element_count));
  }
  return companion;
}

absl::Status ConvertYArray(const v1::ComputeHistogramRequest& request, const InputArray& samples,
                           const PlanningContext& context, kernels::HistogramSpec& spec,
                           HistogramArrays& arrays) {
  if (!request.has_y_array()) return absl::OkStatus();
  const absl::StatusOr<InputArray> y_array =
      ValidateCompanion(request.y_array(), "y_array", samples, context);
  if (!y_array.ok()) return y_array.status();
  if (y_array->description.element_type != samples.description.element_type) {
    return InvalidField(y_array->type_field(),
                        absl::StrCat(kernels::ElementTypeName(y_array->description.element_type),
                                     ", where `array` has ",
                                     kernels::ElementTypeName(samples.description.element_type)));
  }
  spec.two_dimensional = true;
  arrays.input.y_array = arrays.Hold(*y_array);
  return absl::OkStatus();
}

absl::Status ConvertWeights(const v1::ComputeHistogramRequest& request, const InputArray& samples,
                            const PlanningContext& context, kernels::HistogramSpec& spec,
                            HistogramArrays& arrays) {
  if (!request.has_weights()) return absl::OkStatus();
  const absl::StatusOr<InputArray> weights =
      ValidateCompanion(request.weights(), "weights", samples, context);
  if (!weights.ok()) return weights.status();
  spec.weight_type = weights->description.element_type;
  arrays.input.weights = arrays.Hold(*weights);
  return absl::OkStatus();
}

absl::Status ConvertChannelCount(const v1::ComputeHistogramRequest& request,
                                 kernels::HistogramSpec& spec) {
  spec.channel_count = request.channel_count() == 0 ? 1 : request.channel_count();
  if (spec.channel_count <= kChannelCountMax) return absl::OkStatus();
  return InvalidField("channel_count", absl::StrCat(spec.channel_count, " is more than the ",
                                                    kChannelCountMax, " that are allowed"));
}

// The last element's index must be one.
absl::Status ValidateFirstIndex(const v1::ReduceArrayRequest& request, const InputArray& array) {
  if (request.first_index() <= kernels::kNoIndex - array.description.element_count) {
    return absl::OkStatus();
  }
  return InvalidField("first_index", "the indices of the elements do not fit in 64 bits");
}

absl::StatusOr<NewArrayResult> ConvertNewArray(const v1::ResidentDestination& destination,
                                               const PlanningContext& context) {
  const absl::StatusOr<std::chrono::nanoseconds> idle_expiry = ValidateNewArray(
      destination.name(), destination.has_idle_expiry() ? &destination.idle_expiry() : nullptr,
      "destination.resident_array.", context.arrays);
  if (!idle_expiry.ok()) return idle_expiry.status();
  return NewArrayResult{destination.name(), *idle_expiry};
}

absl::StatusOr<RegionResult> ConvertRegion(const v1::RegionDestination& destination,
                                           const InputArray& array, const kernels::ScanPlan& plan,
                                           const PlanningContext& context) {
  constexpr char kOffsetField[] = "destination.region.offset_bytes";
  absl::StatusOr<RegionLease> region =
      FindRegion(destination.name(), "destination.region.name", context.regions);
  if (!region.ok()) return region.status();
  const absl::StatusOr<kernels::MutableResidentSpan> place =
      PlaceInRegion(**region, destination.offset_bytes(), plan.output_type,
                    plan.output_size_bytes(), kOffsetField);
  if (!place.ok()) return place.status();
  if (array.region != nullptr &&
      (*region)->Overlaps(*place, *array.region, std::get<kernels::ResidentSpan>(array.data))) {
    return InvalidField(kOffsetField, "the results would overlap the input");
  }
  return RegionResult{destination.name(), destination.offset_bytes(), *place, *std::move(region)};
}

// `type_is_kept` says whether the results are of the array's own type.
absl::Status ConvertDestination(const v1::ScanArrayRequest& request, const InputArray& array,
                                bool type_is_kept, const PlanningContext& context,
                                PlannedScan& planned) {
  if (!request.has_destination()) return absl::OkStatus();
  const v1::ScanDestination& destination = request.destination();
  switch (destination.destination_case()) {
    case v1::ScanDestination::kInlineArray: return absl::OkStatus();
    case v1::ScanDestination::kResidentArray: {
      absl::StatusOr<NewArrayResult> result =
          ConvertNewArray(destination.resident_array(), context);
      if (!result.ok()) return result.status();
      planned.result = *std::move(result);
      return absl::OkStatus();
    }
    case v1::ScanDestination::kInPlace:
      if (!array.resident) {
        return InvalidField("destination.in_place", "the input is not a resident array");
      }
      if (!type_is_kept) {
        return InvalidField("output_type",
                            absl::StrCat("results in place have the array's own type, ",
                                         kernels::ElementTypeName(array.description.element_type)));
      }
      planned.result = InPlaceResult{};
      return absl::OkStatus();
    case v1::ScanDestination::kRegion: {
      absl::StatusOr<RegionResult> result =
          ConvertRegion(destination.region(), array, planned.plan, context);
      if (!result.ok()) return result.status();
      planned.result = *std::move(result);
      return absl::OkStatus();
    }
    case v1::ScanDestination::DESTINATION_NOT_SET: break;
  }
  return InvalidField("destination", "no destination is given");
}

// The error of planning, or that of an answer that would be too large.
template <class Plan>
absl::Status CheckPlan(const absl::StatusOr<Plan>& plan, const Limits& limits) {
  return plan.ok() ? CheckAnswerSize(*plan, limits) : plan.status();
}

}  // namespace

absl::StatusOr<PlannedReduction> PlanRequest(const v1::ReduceArrayRequest& request,
                                             const PlanningContext& context) {
  const Limits& limits = context.limits;
  absl::StatusOr<InputArray> array =
      ValidateArray(request.array(), "array", context.arrays, context.regions);
  if (!array.ok()) return array.status();
  kernels::ReductionSpec spec;
  spec.delta_degrees_of_freedom = request.delta_degrees_of_freedom();
  spec.return_states = request.return_accumulator();
  const absl::Status converted = FirstError(
      ConvertStatistics(request, spec.statistics),
      Assign(ValidateGrouping(request.grouping(), array->description, limits), spec.grouping),
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), spec.overflow_policy),
      ValidateFirstIndex(request, *array));
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::ReductionPlan> plan =
      kernels::PlanReduction(array->description, std::move(spec));
  if (absl::Status status = CheckPlan(plan, limits); !status.ok()) return status;
  return PlannedReduction{*std::move(plan), *std::move(array), request.first_index()};
}

absl::StatusOr<PlannedScan> PlanRequest(const v1::ScanArrayRequest& request,
                                        const PlanningContext& context) {
  const Limits& limits = context.limits;
  absl::StatusOr<InputArray> array =
      ValidateArray(request.array(), "array", context.arrays, context.regions);
  if (!array.ok()) return array.status();
  kernels::ScanSpec spec;
  spec.exact = request.exact();
  const absl::Status converted = FirstError(
      Assign(FromWire(request.operation(), "operation"), spec.operation),
      Assign(FromWire(request.mode(), "mode"), spec.mode),
      Assign(FromWire(request.direction(), "direction"), spec.direction),
      Assign(ValidateGrouping(request.grouping(), array->description, limits), spec.grouping),
      request.output_type() == v1::ElementType{}
          ? absl::OkStatus()
          : Assign(FromWire(request.output_type(), "output_type"), spec.output_type),
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), spec.overflow_policy));
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::ScanPlan> plan = kernels::PlanScan(array->description, std::move(spec));
  if (!plan.ok()) return plan.status();
  PlannedScan planned{*std::move(plan), {}, InlineResult{}, context.arrays};
  const bool type_is_kept = planned.plan.output_type == array->description.element_type;
  absl::Status status = ConvertDestination(request, *array, type_is_kept, context, planned);
  if (status.ok() && std::holds_alternative<InlineResult>(planned.result)) {
    status = CheckAnswerSize(planned.plan, limits);
  }
  if (!status.ok()) return status;
  planned.input = *std::move(array);
  return planned;
}

absl::StatusOr<PlannedHistogram> PlanRequest(const v1::ComputeHistogramRequest& request,
                                             const PlanningContext& context) {
  const Limits& limits = context.limits;
  const absl::StatusOr<InputArray> array =
      ValidateArray(request.array(), "array", context.arrays, context.regions);
  if (!array.ok()) return array.status();
  kernels::HistogramSpec spec;
  spec.quantiles.assign(request.quantiles().begin(), request.quantiles().end());
  spec.return_states = request.return_accumulator();
  HistogramArrays arrays;
  arrays.input.array = arrays.Hold(*array);
  const absl::Status converted =
      FirstError(ConvertBins(request, spec.bins), ConvertChannelCount(request, spec),
                 ConvertYArray(request, *array, context, spec, arrays),
                 ConvertWeights(request, *array, context, spec, arrays),
                 Assign(FromWire(request.out_of_range_policy(), "out_of_range_policy"),
                        spec.out_of_range_policy),
                 Assign(IsSparse(request.format(), "format"), spec.sparse));
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::HistogramPlan> plan =
      kernels::PlanHistogram(array->description, std::move(spec), limits.bin_count_max);
  if (absl::Status status = CheckPlan(plan, limits); !status.ok()) return status;
  return PlannedHistogram{*std::move(plan), arrays.input, std::move(arrays.leases),
                          std::move(arrays.regions)};
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
