// Plans histograms: PlanRequest and PlanStream of their requests.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/histogram_fold.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_validation.h"
#include "server/planning/bin_rule_validation.h"
#include "server/planning/request_validation.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

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

// Whether one part of the elements lies on each device.
bool AreAlike(const std::vector<ArrayShard>& a, const std::vector<ArrayShard>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ArrayShard& x, const ArrayShard& y) {
                      return x.engine == y.engine && x.element_count == y.element_count;
                    });
}

// The arrays of a histogram.
struct HistogramArrays {
  InputArray samples;
  std::optional<InputArray> y = std::nullopt;
  std::optional<InputArray> weights = std::nullopt;

  std::array<InputArray*, 3> all() {
    return {&samples, y ? &*y : nullptr, weights ? &*weights : nullptr};
  }

  // Whether each device that has some elements of one has the same of all, or can read the others.
  bool AreSharded() {
    const InputArray* first = nullptr;
    bool are_alike = true;
    for (const InputArray* const array : all()) {
      if (array == nullptr) continue;
      are_alike &= !array->is_view();
      if (!array->is_sharded()) {
        are_alike &= !array->engine();
      } else if (first == nullptr) {
        first = array;
      } else {
        are_alike &= AreAlike(array->resident->shards, first->resident->shards);
      }
    }
    return first != nullptr && are_alike;
  }
};

// Takes an array into the plan, with its shards where devices work on their own.
void HoldPart(const InputArray& array, kernels::InputSpan& place,
              std::vector<ArrayShard>& its_shards, PlannedHistogram& planned) {
  Hold(array, place, planned);
  if (array.is_sharded()) its_shards = array.resident->shards;
  if (array.is_bool) planned.truths.push_back(array);
}

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

absl::Status ConvertYArray(const v1::ComputeHistogramRequest& request,
                           const PlanningContext& context, kernels::HistogramSpec& spec,
                           HistogramArrays& arrays) {
  if (!request.has_y_array()) return absl::OkStatus();
  const InputArray& samples = arrays.samples;
  absl::StatusOr<InputArray> y_array =
      ValidateCompanion(request.y_array(), "y_array", samples, context);
  if (!y_array.ok()) return y_array.status();
  if (y_array->description.element_type != samples.description.element_type ||
      y_array->is_bool != samples.is_bool) {
    return InvalidField(y_array->type_field(),
                        absl::StrCat(kernels::ElementTypeName(y_array->description.element_type),
                                     ", where `array` has ",
                                     kernels::ElementTypeName(samples.description.element_type)));
  }
  spec.two_dimensional = true;
  arrays.y = *std::move(y_array);
  return absl::OkStatus();
}

absl::Status ConvertWeights(const v1::ComputeHistogramRequest& request,
                            const PlanningContext& context, kernels::HistogramSpec& spec,
                            HistogramArrays& arrays) {
  if (!request.has_weights()) return absl::OkStatus();
  absl::StatusOr<InputArray> weights =
      ValidateCompanion(request.weights(), "weights", arrays.samples, context);
  if (!weights.ok()) return weights.status();
  spec.weight_type = weights->description.element_type;
  arrays.weights = *std::move(weights);
  return absl::OkStatus();
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
                    ConvertStrategy(request, spec.strategy),
                    Assign(FromWire(request.out_of_range_policy(), "out_of_range_policy"),
                           spec.out_of_range_policy),
                    Assign(IsSparse(request.format(), "format"), spec.sparse));
}

absl::Status RefuseChannels(const kernels::HistogramPlan& plan) {
  if (plan.channel_count == 1) return absl::OkStatus();
  return InvalidField("where", "not with several channels");
}

// The samples that count.
absl::Status PlanSelected(const v1::ComputeHistogramRequest& request, const InputArray& samples,
                          const PlanningContext& context, PlannedHistogram& planned) {
  if (!request.has_where()) return absl::OkStatus();
  if (absl::Status status = RefuseChannels(planned.plan); !status.ok()) return status;
  return Assign(PlanSelection(&request.where(), samples, context), planned.selection);
}

absl::Status PlanRoomOfSelected(const PlanningContext& context, PlannedHistogram& planned) {
  if (!planned.selection) return absl::OkStatus();
  const kernels::HistogramPlan& plan = planned.plan;
  if (planned.selection->mask->region != nullptr) {
    planned.regions.push_back(planned.selection->mask->region);
  }
  uint64_t sample_bytes = kernels::ElementSize(plan.array.element_type);
  if (plan.two_dimensional) sample_bytes *= 2;
  if (plan.weight_type) sample_bytes += kernels::ElementSize(*plan.weight_type);
  return PlanRoom(sample_bytes, plan.array.element_count, planned.engine, context,
                  *planned.selection);
}

// Where the histogram is counted, and has its arrays: on one device, unless those that have shards
// count them.
absl::Status PlanPlace(const PlanningContext& context, HistogramArrays& arrays,
                       PlannedHistogram& planned) {
  const auto [samples, y, weights] = arrays.all();
  if (!arrays.AreSharded() || planned.selection || planned.rule) {
    InputArray* const inputs[] = {samples, y, weights, MaskOf(planned.selection)};
    absl::Status status = Gather(inputs, std::nullopt, context, planned.gather);
    if (!status.ok()) return status;
    planned.engine = EngineOf(inputs);
  }
  HoldPart(*samples, planned.input.array, planned.shards.array, planned);
  if (y != nullptr) HoldPart(*y, planned.input.y_array, planned.shards.y_array, planned);
  if (weights != nullptr) {
    HoldPart(*weights, planned.input.weights, planned.shards.weights, planned);
  }
  return absl::OkStatus();
}

// An array of a streamed histogram.
absl::StatusOr<kernels::ElementType> ValidateStreamedSamples(const v1::ArraySource& source,
                                                             const char* field) {
  const absl::StatusOr<kernels::ShapedArray> array = ValidateStreamedArray(source, field);
  if (!array.ok()) return array.status();
  absl::Status status = RefuseRows(source, field, "samples of a histogram have no rows");
  if (status.ok()) status = RefuseBool(source, field);
  if (!status.ok()) return status;
  return array->element_type;
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

}  // namespace

absl::StatusOr<PlannedHistogram> PlanRequest(const v1::ComputeHistogramRequest& request,
                                             const PlanningContext& context) {
  const Limits& limits = context.limits;
  absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array", context);
  if (!array.ok()) return array.status();
  kernels::HistogramSpec spec;
  HistogramArrays arrays{*std::move(array)};
  const absl::Status converted =
      FirstError(ConvertSpec(request, spec), ConvertYArray(request, context, spec, arrays),
                 ConvertWeights(request, context, spec, arrays));
  if (!converted.ok()) return converted;
  std::optional<kernels::BinRule> rule;
  if (absl::Status status = ConvertRule(request, rule); !status.ok()) return status;
  const kernels::ArrayDescription samples = arrays.samples.description;
  if (rule) {
    std::get<kernels::EvenBinsSpec>(spec.bins.front()).bin_count =
        RuleBinsMax(samples.element_count, limits);
  }
  absl::StatusOr<kernels::HistogramPlan> plan =
      kernels::OutlineHistogram(samples, std::move(spec), limits.bin_count_max);
  absl::Status status = CheckPlan(plan, limits);
  if (!status.ok()) return status;
  PlannedHistogram planned{.plan = *std::move(plan), .arrays = context.arrays};
  if (rule) planned.rule = PlannedBinRule{*rule};
  status = PlanSelected(request, arrays.samples, context, planned);
  if (status.ok()) status = PlanPlace(context, arrays, planned);
  if (status.ok()) status = PlanRoomOfSelected(context, planned);
  if (status.ok() && IsSharded(planned)) status = RefuseStrategy(request, "a sharded array");
  if (!status.ok()) return status;
  PlaceRule(planned);
  planned.is_compact = request.compact_answer() && !planned.plan.sparse;
  return planned;
}

absl::StatusOr<PlannedHistogramStream> PlanStream(const v1::ComputeHistogramRequest& request,
                                                  const Limits& limits) {
  const absl::StatusOr<kernels::ElementType> type =
      ValidateStreamedSamples(request.array(), "array");
  if (!type.ok()) return type.status();
  kernels::HistogramSpec spec;
  const absl::Status converted = FirstError(
      RefuseRules(request.bins(), "bins", "a stream"), ConvertSpec(request, spec),
      RefuseStrategy(request, "a stream"), ConvertStreamedCompanions(request, *type, spec));
  if (!converted.ok()) return converted;
  absl::StatusOr<kernels::HistogramPlan> plan = kernels::OutlineHistogram(
      kernels::ArrayDescription::Vector(*type, 0), std::move(spec), limits.bin_count_max);
  if (!plan.ok()) return plan.status();
  absl::Status status = CheckStreamedHistogram(*plan, limits);
  if (status.ok() && request.has_where()) {
    status = FirstError(RefuseChannels(*plan), ValidateStreamedMask(request.where()));
  }
  if (!status.ok()) return status;
  return PlannedHistogramStream{*std::move(plan), request.has_where()};
}

}  // namespace gridfold::server
