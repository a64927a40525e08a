#include "server/planning/request_validation.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/histogram_fold.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_request_validation.h"
#include "server/planning/array_validation.h"
#include "server/wire/proto_conversion.h"

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

// Everything that the request says of the operation but for the groups.
absl::Status ConvertSpec(const v1::ScanArrayRequest& request, kernels::ScanSpec& spec) {
  spec.exact = request.exact();
  return FirstError(
      Assign(FromWire(request.operation(), "operation"), spec.operation),
      Assign(FromWire(request.mode(), "mode"), spec.mode),
      Assign(FromWire(request.direction(), "direction"), spec.direction),
      request.output_type() == v1::ElementType{}
          ? absl::OkStatus()
          : Assign(FromWire(request.output_type(), "output_type"), spec.output_type),
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), spec.overflow_policy));
}

// What scans can be asked for, but not in a stream.
absl::Status CheckStreamedScan(const v1::ScanArrayRequest& request,
                               const kernels::ArrayDescription& array,
                               const kernels::ScanSpec& spec) {
  if (array.is_matrix) {
    return InvalidField("array.streamed_array.column_count", "a stream is scanned as a whole");
  }
  if (request.grouping().kind_case() != v1::Grouping::KIND_NOT_SET) {
    return InvalidField("grouping", "a stream is scanned as a whole");
  }
  if (spec.direction == kernels::ScanDirection::kReverse) {
    return InvalidField("direction", "a stream is scanned as it arrives, forward");
  }
  if (!request.has_destination() || request.destination().has_inline_array()) {
    return absl::OkStatus();
  }
  return InvalidField("destination", "the results of a stream are its messages");
}

// Whether the parts after which a scan can continue fit in a job, and their results in a message.
absl::Status CheckScanBatch(const kernels::ScanPlan& plan, const Limits& limits) {
  const uint64_t batch_bytes = ScanBatchBytesMin(plan);
  if (batch_bytes + kAnswerOverheadBytes <= limits.message_bytes_max) return absl::OkStatus();
  return kernels::AboveLimit(
      "array.streamed_array",
      absl::StrCat("a batch takes ", batch_bytes, " bytes, and messages have at most ",
                   limits.message_bytes_max));
}

absl::Status ConvertBins(const v1::ComputeHistogramRequest& request,
                         std::vector<kernels::BinSpec>& bins) {
  if (static_cast<uint64_t>(request.bins_size()) > kChannelCountMax) {
    return kernels::AboveLimit(
        "bins", absl::StrCat(request.bins_size(), " entries are more than the ", kChannelCountMax,
                             " channels that are allowed"));
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
  std::optional<uint32_t> engine;

  // Stores the array's data in `place`. INVALID_ARGUMENT where the array lies on another device
  // than one before it.
  absl::Status Hold(const InputArray& array, kernels::InputSpan& place) {
    place = array.data;
    absl::Status status = RequireEngine(array.field, array.engine(), "request", engine);
    if (!status.ok()) return status;
    if (array.resident) leases.push_back(array.resident->lease);
    if (array.region != nullptr) regions.push_back(array.region);
    return absl::OkStatus();
  }
};

// An array that accompanies the samples, one element for each.
absl::StatusOr<InputArray> ValidateCompanion(const v1::ArraySource& source, const char* field,
                                             const InputArray& samples,
                                             const PlanningContext& context) {
  absl::StatusOr<InputArray> companion = ValidateArray(source, field, context);
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
  return arrays.Hold(*y_array, arrays.input.y_array);
}

absl::Status ConvertWeights(const v1::ComputeHistogramRequest& request, const InputArray& samples,
                            const PlanningContext& context, kernels::HistogramSpec& spec,
                            HistogramArrays& arrays) {
  if (!request.has_weights()) return absl::OkStatus();
  const absl::StatusOr<InputArray> weights =
      ValidateCompanion(request.weights(), "weights", samples, context);
  if (!weights.ok()) return weights.status();
  spec.weight_type = weights->description.element_type;
  return arrays.Hold(*weights, arrays.input.weights);
}

absl::Status ConvertChannelCount(const v1::ComputeHistogramRequest& request,
                                 kernels::HistogramSpec& spec) {
  spec.channel_count = request.channel_count() == 0 ? 1 : request.channel_count();
  if (spec.channel_count <= kChannelCountMax) return absl::OkStatus();
  return kernels::AboveLimit("channel_count", absl::StrCat(spec.channel_count, " is more than the ",
                                                           kChannelCountMax, " that are allowed"));
}

// Everything that the request says of the operation but for its further arrays.
absl::Status ConvertSpec(const v1::ComputeHistogramRequest& request, kernels::HistogramSpec& spec) {
  spec.quantiles.assign(request.quantiles().begin(), request.quantiles().end());
  spec.return_states = request.return_accumulator();
  return FirstError(ConvertBins(request, spec.bins), ConvertChannelCount(request, spec),
                    Assign(FromWire(request.out_of_range_policy(), "out_of_range_policy"),
                           spec.out_of_range_policy),
                    Assign(IsSparse(request.format(), "format"), spec.sparse));
}

// An array of a streamed histogram.
absl::StatusOr<kernels::ElementType> ValidateStreamedSamples(const v1::ArraySource& source,
                                                             const char* field) {
  const absl::StatusOr<kernels::ArrayDescription> array = ValidateStreamedArray(source, field);
  if (!array.ok()) return array.status();
  if (!array->is_matrix) return array->element_type;
  return InvalidField(absl::StrCat(field, ".streamed_array.column_count"),
                      "samples of a histogram have no rows");
}

absl::Status ConvertStreamedCompanions(const v1::ComputeHistogramRequest& request,
                                       kernels::ElementType sample_type,
                                       kernels::HistogramSpec& spec) {
  if (request.has_y_array()) {
    const absl::StatusOr<kernels::ElementType> y_type =
        ValidateStreamedSamples(request.y_array(), "y_array");
    if (!y_type.ok()) return y_type.status();
    if (*y_type != sample_type) {
      return InvalidField("y_array.streamed_array.element_type",
                          absl::StrCat(kernels::ElementTypeName(*y_type), ", where `array` has ",
                                       kernels::ElementTypeName(sample_type)));
    }
    spec.two_dimensional = true;
  }
  if (!request.has_weights()) return absl::OkStatus();
  return Assign(ValidateStreamedSamples(request.weights(), "weights"), spec.weight_type);
}

// Whether the answer fits in a message, however many samples come, and the sums of weights, which
// are exact until then, take no more than one.
absl::Status CheckStreamedHistogram(kernels::HistogramPlan plan, const Limits& limits) {
  if (absl::Status status = kernels::HistogramFold::Check(plan); !status.ok()) return status;
  plan.array.element_count = std::numeric_limits<uint64_t>::max();
  if (absl::Status status = CheckAnswerSize(plan, limits); !status.ok()) return status;
  if (!plan.weight_type.has_value()) return absl::OkStatus();
  const uint64_t sum_bytes = kernels::HistogramAccumulatorBytesMax(plan);
  if (sum_bytes <= limits.message_bytes_max) return absl::OkStatus();
  return kernels::AboveLimit(
      "weights",
      absl::StrCat("the exact sums of the bins take ", sum_bytes, " bytes, more than the ",
                   limits.message_bytes_max, " that a stream may hold"));
}

// The last element's index must be one.
absl::Status ValidateFirstIndex(const v1::ReduceArrayRequest& request, const InputArray& array) {
  if (request.first_index() <= kernels::kNoIndex - array.description.element_count) {
    return absl::OkStatus();
  }
  return InvalidField("first_index", "the indices of the elements do not fit in 64 bits");
}

absl::StatusOr<NewArrayResult> ConvertNewArray(const v1::ResidentDestination& destination,
                                               const InputArray& array,
                                               const PlanningContext& context) {
  const absl::StatusOr<std::chrono::nanoseconds> idle_expiry = ValidateNewArray(
      destination.name(), destination.has_idle_expiry() ? &destination.idle_expiry() : nullptr,
      "destination.resident_array.", context.arrays);
  if (!idle_expiry.ok()) return idle_expiry.status();
  return NewArrayResult{destination.name(), *idle_expiry,
                        array.engine() ? *array.engine() : context.arrays.EngineWithMostRoom()};
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
  std::optional<uint32_t> engine = array.engine();
  absl::Status agreed = RequireEngine("destination.region", (*region)->engine(), "request", engine);
  if (!agreed.ok()) return agreed;
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
          ConvertNewArray(destination.resident_array(), array, context);
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
  return PlannedReduction{*std::move(plan), *std::move(array), request.first_index()};
}

absl::StatusOr<PlannedScan> PlanRequest(const v1::ScanArrayRequest& request,
                                        const PlanningContext& context) {
  const Limits& limits = context.limits;
  absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array", context);
  if (!array.ok()) return array.status();
  kernels::ScanSpec spec;
  const absl::Status converted = FirstError(
      ConvertSpec(request, spec),
      Assign(ValidateGrouping(request.grouping(), array->description, limits), spec.grouping));
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
  const absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array", context);
  if (!array.ok()) return array.status();
  kernels::HistogramSpec spec;
  HistogramArrays arrays;
  // One after the other: the last one that does not fit is named.
  absl::Status held = arrays.Hold(*array, arrays.input.array);
  if (held.ok()) held = ConvertYArray(request, *array, context, spec, arrays);
  if (held.ok()) held = ConvertWeights(request, *array, context, spec, arrays);
  const absl::Status converted = FirstError(ConvertSpec(request, spec), held);
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::HistogramPlan> plan =
      kernels::OutlineHistogram(array->description, std::move(spec), limits.bin_count_max);
  if (absl::Status status = CheckPlan(plan, limits); !status.ok()) return status;
  return PlannedHistogram{*std::move(plan), arrays.input, std::move(arrays.leases),
                          std::move(arrays.regions), arrays.engine};
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

absl::StatusOr<kernels::HistogramPlan> PlanStream(const v1::ComputeHistogramRequest& request,
                                                  const Limits& limits) {
  const absl::StatusOr<kernels::ElementType> type =
      ValidateStreamedSamples(request.array(), "array");
  if (!type.ok()) return type.status();
  kernels::HistogramSpec spec;
  const absl::Status converted =
      FirstError(ConvertSpec(request, spec), ConvertStreamedCompanions(request, *type, spec));
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::HistogramPlan> plan = kernels::OutlineHistogram(
      kernels::ArrayDescription::Vector(*type, 0), std::move(spec), limits.bin_count_max);
  if (!plan.ok()) return plan.status();
  if (absl::Status status = CheckStreamedHistogram(*plan, limits); !status.ok()) return status;
  return plan;
}

absl::StatusOr<kernels::ScanPlan> PlanStream(const v1::ScanArrayRequest& request,
                                             const Limits& limits) {
  const absl::StatusOr<kernels::ArrayDescription> array =
      ValidateStreamedArray(request.array(), "array");
  if (!array.ok()) return array.status();
  kernels::ScanSpec spec;
  if (absl::Status status = ConvertSpec(request, spec); !status.ok()) return status;
  if (absl::Status status = CheckStreamedScan(request, *array, spec); !status.ok()) return status;
  absl::StatusOr<kernels::ScanPlan> plan = kernels::PlanScan(*array, std::move(spec));
  if (!plan.ok()) return plan.status();
  if (absl::Status status = CheckScanBatch(*plan, limits); !status.ok()) return status;
  return plan;
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
