#include "server/request_validation.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/invalid_field.h"
#include "server/answer_size.h"
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

// An array that accompanies the samples, one element for each.
absl::StatusOr<InputArray> ValidateCompanion(const v1::ArraySource& source, const char* field,
                                             const InputArray& samples) {
  absl::StatusOr<InputArray> companion = ValidateArray(source, field);
  if (!companion.ok()) return companion.status();
  const uint64_t element_count = companion->description.element_count;
  if (element_count != samples.description.element_count) {
    return InvalidField(absl::StrCat(field, ".inline_array.data"),
                        absl::StrCat(element_count, " elements, where `array` has ",
                                     samples.description.element_count));
  }
  return companion;
}

absl::Status ConvertYArray(const v1::ComputeHistogramRequest& request, const InputArray& samples,
                           kernels::HistogramSpec& spec, kernels::HistogramInput& input) {
  if (!request.has_y_array()) return absl::OkStatus();
  const absl::StatusOr<InputArray> y_array =
      ValidateCompanion(request.y_array(), "y_array", samples);
  if (!y_array.ok()) return y_array.status();
  if (y_array->description.element_type != samples.description.element_type) {
    return InvalidField("y_array.inline_array.element_type",
                        absl::StrCat(kernels::ElementTypeName(y_array->description.element_type),
                                     ", where `array` has ",
                                     kernels::ElementTypeName(samples.description.element_type)));
  }
  spec.two_dimensional = true;
  input.y_array = y_array->data;
  return absl::OkStatus();
}

absl::Status ConvertWeights(const v1::ComputeHistogramRequest& request, const InputArray& samples,
                            kernels::HistogramSpec& spec, kernels::HistogramInput& input) {
  if (!request.has_weights()) return absl::OkStatus();
  const absl::StatusOr<InputArray> weights =
      ValidateCompanion(request.weights(), "weights", samples);
  if (!weights.ok()) return weights.status();
  spec.weight_type = weights->description.element_type;
  input.weights = weights->data;
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

// The error of planning, or that of an answer that would be too large.
template <class Plan>
absl::Status CheckPlan(const absl::StatusOr<Plan>& plan, const Limits& limits) {
  return plan.ok() ? CheckAnswerSize(*plan, limits) : plan.status();
}

}  // namespace

absl::StatusOr<PlannedReduction> PlanRequest(const v1::ReduceArrayRequest& request,
                                             const Limits& limits) {
  const absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array");
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
  return PlannedReduction{*std::move(plan), array->data, request.first_index()};
}

absl::StatusOr<PlannedScan> PlanRequest(const v1::ScanArrayRequest& request, const Limits& limits) {
  const absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array");
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
  if (request.has_destination() && !request.destination().has_inline_array()) {
    return InvalidField("destination", "no destination is given");
  }
  absl::StatusOr<kernels::ScanPlan> plan = kernels::PlanScan(array->description, std::move(spec));
  if (absl::Status status = CheckPlan(plan, limits); !status.ok()) return status;
  return PlannedScan{*std::move(plan), array->data};
}

absl::StatusOr<PlannedHistogram> PlanRequest(const v1::ComputeHistogramRequest& request,
                                             const Limits& limits) {
  const absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array");
  if (!array.ok()) return array.status();
  kernels::HistogramSpec spec;
  spec.quantiles.assign(request.quantiles().begin(), request.quantiles().end());
  spec.return_states = request.return_accumulator();
  kernels::HistogramInput input;
  input.array = array->data;
  const absl::Status converted = FirstError(
      ConvertBins(request, spec.bins), ConvertChannelCount(request, spec),
      ConvertYArray(request, *array, spec, input), ConvertWeights(request, *array, spec, input),
      Assign(FromWire(request.out_of_range_policy(), "out_of_range_policy"),
             spec.out_of_range_policy),
      Assign(IsSparse(request.format(), "format"), spec.sparse));
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::HistogramPlan> plan =
      kernels::PlanHistogram(array->description, std::move(spec), limits.bin_count_max);
  if (absl::Status status = CheckPlan(plan, limits); !status.ok()) return status;
  return PlannedHistogram{*std::move(plan), input};
}

absl::StatusOr<PlannedMerge> PlanRequest(const v1::MergeAccumulatorsRequest& request,
                                         const Limits& limits) {
  if (request.accumulators().empty()) {
    return InvalidField("accumulators", "at least one is needed");
  }
  return PlannedMerge{
      {request.accumulators().begin(), request.accumulators().end()}, request.partial(), limits};
}

}  // namespace gridfold::server
