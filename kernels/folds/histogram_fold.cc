#include "kernels/folds/histogram_fold.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/sums/weight_sum.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels {

namespace {

// Bins of a channel; all of them in two dimensions, where there is one.
uint64_t BinCountOf(const HistogramPlan& plan, size_t channel) {
  return plan.two_dimensional ? plan.total_bin_count() : plan.bins[channel].bin_count;
}

uint64_t SampleBytes(const HistogramPlan& plan) {
  uint64_t bytes = ElementSize(plan.array.element_type) * (plan.two_dimensional ? 2 : 1);
  if (plan.weight_type.has_value()) bytes += ElementSize(*plan.weight_type);
  return bytes;
}

// The result for no samples.
HistogramResult MakeEmptyResult(const HistogramPlan& plan) {
  HistogramResult result;
  result.bins = plan.bins;
  result.channels.resize(plan.channel_count);
  if (!plan.weight_type.has_value()) {
    for (size_t c = 0; c < result.channels.size(); ++c) {
      result.channels[c].counts.resize(BinCountOf(plan, c));
    }
    return result;
  }
  VisitElementType(*plan.weight_type, [&](auto tag) {
    using Sum = WeightSum<typename decltype(tag)::type>;
    result.weight_states.emplace<std::vector<Sum>>(plan.total_bin_count());
  });
  return result;
}

// Calls f(sums) with the exact sums of weights, where there are some.
template <class F>
void VisitSums(HistogramWeightStates& states, F&& f) {
  std::visit(
      [&](auto& sums) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(sums)>, std::monostate>) f(sums);
      },
      states);
}

void RoundWeights(const HistogramPlan& plan, HistogramResult& result) {
  VisitSums(result.weight_states, [&](const auto& sums) {
    size_t bin = 0;
    for (size_t c = 0; c < result.channels.size(); ++c) {
      std::vector<double>& rounded = result.channels[c].weight_sums;
      rounded.resize(BinCountOf(plan, c));
      for (double& value : rounded) value = RoundedWeightSum(sums[bin++]);
    }
  });
}

}  // namespace

uint64_t CounterBytes(const HistogramPlan& plan) {
  if (!plan.weight_type.has_value()) return plan.total_bin_count() * sizeof(uint64_t);
  return VisitElementType(*plan.weight_type, [&](auto tag) -> uint64_t {
    return plan.total_bin_count() * sizeof(WeightSum<typename decltype(tag)::type>);
  });
}

absl::Status HistogramFold::Check(const HistogramPlan& plan) {
  for (size_t i = 0; i < plan.bins.size(); ++i) {
    if (plan.bins[i].automatic_range) {
      return InvalidField(absl::StrCat("bins[", i, "]"),
                          "the range follows from all samples, so a stream needs its bounds");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<HistogramFold>> HistogramFold::Make(HistogramPlan plan,
                                                                   const LaneOptions& lane) {
  if (absl::Status status = Check(plan); !status.ok()) return status;
  return absl::WrapUnique(new HistogramFold(std::move(plan), lane));
}

HistogramFold::HistogramFold(HistogramPlan plan, const LaneOptions& lane)
    : plan_(std::move(plan)),
      batch_(PlanStates(plan_)),
      samples_max_(lane.input_bytes_max / SampleBytes(plan_) / plan_.channel_count *
                   plan_.channel_count) {}

const HistogramPlan* HistogramFold::NextBatch(uint64_t available_samples) {
  const uint64_t samples =
      std::min(available_samples / plan_.channel_count * plan_.channel_count, samples_max_);
  if (samples == 0) return nullptr;
  batch_.array = ArrayDescription::Vector(plan_.array.element_type, samples);
  return &batch_;
}

void HistogramFold::Add(HistogramResult result) {
  plan_.array.element_count += batch_.array.element_count;
  if (!total_) {
    total_ = std::move(result);
    total_->bins = plan_.bins;
    return;
  }
  for (size_t c = 0; c < total_->channels.size(); ++c) {
    HistogramCounts& total = total_->channels[c];
    const HistogramCounts& added = result.channels[c];
    for (size_t i = 0; i < total.counts.size(); ++i) total.counts[i] += added.counts[i];
    total.underflow_count += added.underflow_count;
    total.overflow_count += added.overflow_count;
    total.nan_count += added.nan_count;
  }
  VisitSums(total_->weight_states, [&](auto& sums) {
    const auto& added = std::get<std::decay_t<decltype(sums)>>(result.weight_states);
    for (size_t i = 0; i < sums.size(); ++i) Merge(added[i], sums[i]);
  });
}

absl::StatusOr<HistogramMerge> HistogramFold::Finish(uint64_t rest_samples,
                                                     const std::stop_token& stop) {
  if (rest_samples > 0) {
    return InvalidField("channel_count",
                        absl::StrCat(plan_.array.element_count + rest_samples,
                                     " elements are not a multiple of ", plan_.channel_count));
  }
  if (!total_) total_ = MakeEmptyResult(plan_);
  if (plan_.return_states) return MakeHistogramPart(plan_, *total_, stop);
  return HistogramMerge{std::move(*this).TakeResult(), {}};
}

HistogramResult HistogramFold::TakeResult() && {
  if (!total_) total_ = MakeEmptyResult(plan_);
  RoundWeights(plan_, *total_);
  if (!plan_.return_states) total_->weight_states = {};
  FinishHistogram(plan_, *total_);
  return *std::move(total_);
}

}  // namespace gridfold::kernels
