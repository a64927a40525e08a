#include "server/compute/bin_rule_run.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/contract/bin_rule.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/reduction.h"
#include "server/compute/keyed_run.h"
#include "server/planning/bin_rule_validation.h"

namespace gridfold::server {

namespace {

using kernels::SampleSummary;

double ToDouble(uint64_t slot, kernels::ValueKind kind) {
  switch (kind) {
    case kernels::ValueKind::kInt64: return static_cast<double>(static_cast<int64_t>(slot));
    case kernels::ValueKind::kDouble: return std::bit_cast<double>(slot);
    case kernels::ValueKind::kUint64:
    case kernels::ValueKind::kBool: break;
  }
  return static_cast<double>(slot);
}

// The samples of a histogram, on a lane. Those that count are `summary.count` from `first` on, in
// their order.
class SummaryRun {
 public:
  SummaryRun(const PlannedHistogram& planned, const kernels::HistogramPlan& plan,
             const kernels::InputSpan& samples, kernels::Lane& lane, const std::stop_token& stop,
             kernels::RunStatistics& statistics)
      : planned_(planned),
        plan_(plan),
        array_(
            kernels::ArrayDescription::Vector(plan.array.element_type, plan.array.element_count)),
        samples_(samples),
        lane_(lane),
        stop_(stop),
        statistics_(statistics) {}

  absl::StatusOr<SampleSummary> Summarize() {
    absl::Status status = plan_.bins.front().automatic_range ? OfAll() : OfThoseWithinBounds();
    const bool has_quartiles = summary_.count > 0 && NeedsQuartiles(planned_.rule->rule);
    if (status.ok() && has_quartiles) status = AddQuartiles();
    if (!status.ok()) return status;
    return summary_;
  }

 private:
  // Calls `step` with statistics of its own.
  template <class Step>
  auto Run(Step step) {
    kernels::RunStatistics run;
    auto result = step(run);
    statistics_.Add(run);
    return result;
  }

  absl::Status OfAll() {
    summary_.count = array_.element_count;
    if (summary_.count == 0) return absl::OkStatus();
    kernels::ReductionSpec spec{.statistics = {kernels::Statistic::kMin, kernels::Statistic::kMax},
                                .grouping = {}};
    if (NeedsStandardDeviation(planned_.rule->rule)) {
      spec.statistics.push_back(kernels::Statistic::kStandardDeviation);
    }
    const absl::StatusOr<kernels::ReductionPlan> plan =
        kernels::PlanReduction(array_, std::move(spec));
    if (!plan.ok()) return plan.status();
    const absl::StatusOr<kernels::ReductionResult> result = Run([&](kernels::RunStatistics& run) {
      return lane_.RunReduction(*plan, samples_, stop_, run);
    });
    if (!result.ok()) return result.status();
    const auto value = [&](size_t i) {
      return ToDouble(result->columns[i].slots.front(), result->columns[i].kind);
    };
    summary_.smallest = value(0);
    summary_.largest = value(1);
    if (!std::isfinite(summary_.smallest) || !std::isfinite(summary_.largest)) {
      return kernels::InvalidField(kRuleField,
                                   "not all samples are finite, and there are no bounds");
    }
    if (NeedsStandardDeviation(planned_.rule->rule)) summary_.standard_deviation = value(2);
    return absl::OkStatus();
  }

  absl::Status OfThoseWithinBounds() {
    kernels::HistogramPlan plan = plan_;
    plan.array = array_;
    plan.bins.front().bin_count = 1;
    plan.out_of_range_policy = kernels::OutOfRangePolicy::kDrop;
    plan.sparse = false;
    plan.quantiles.clear();
    plan.strategy.clear();
    const absl::StatusOr<kernels::HistogramResult> result = Run([&](kernels::RunStatistics& run) {
      return lane_.RunHistogram(plan, {samples_, {}, {}}, stop_, run);
    });
    if (!result.ok()) return result.status();
    summary_.count = result->channels.front().counts.front();
    first_ = result->channels.front().underflow_count;
    if (summary_.count == 0) return absl::OkStatus();
    const absl::StatusOr<std::vector<double>> ends = AtRanks({0, summary_.count - 1});
    if (!ends.ok()) return ends.status();
    summary_.smallest = ends->front();
    summary_.largest = ends->back();
    return NeedsStandardDeviation(planned_.rule->rule) ? AddDeviationWithinBounds()
                                                       : absl::OkStatus();
  }

  // The deviation is that of the only group by key, where samples are their own keys.
  absl::Status AddDeviationWithinBounds() {
    const kernels::PlannedBins& bins = plan_.bins.front();
    kernels::KeyBinsSpec groups;
    groups.bins.emplace_back(kernels::EvenBinsSpec{1, bins.lower_bound, bins.upper_bound});
    kernels::KeyedReductionSpec spec{.groups = std::move(groups), .reduction = {}};
    spec.reduction.statistics = {kernels::Statistic::kStandardDeviation};
    absl::StatusOr<kernels::KeyedReductionPlan> plan =
        kernels::OutlineKeyedReduction(array_, array_, std::move(spec), 1);
    if (!plan.ok()) return plan.status();
    if (absl::Status status = kernels::CompletePlan(stop_, *plan); !status.ok()) return status;
    const kernels::KeyedInput input{.keys = samples_, .values = samples_};
    const absl::StatusOr<kernels::KeyedReductionResult> result =
        Run([&](kernels::RunStatistics& run) {
          return RunWithRoom(*plan, input, planned_.arrays, planned_.rule->engine, lane_, stop_,
                             run);
        });
    if (!result.ok()) return result.status();
    const kernels::StatisticColumn& column = result->reduction.columns.front();
    summary_.standard_deviation = ToDouble(column.slots.front(), column.kind);
    return absl::OkStatus();
  }

  absl::Status AddQuartiles() {
    std::vector<uint64_t> ranks;
    std::vector<kernels::QuantilePlace> places;
    for (const double quantile : {0.25, 0.75}) {
      places.push_back(kernels::PlaceOf({.quantile = quantile}, summary_.count,
                                        kernels::QuantileMethod::kLinear));
      ranks.insert(ranks.end(), {places.back().lower, places.back().upper});
    }
    const absl::StatusOr<std::vector<double>> values = AtRanks(std::move(ranks));
    if (!values.ok()) return values.status();
    const auto between = [&](size_t i) {
      const double lower = (*values)[2 * i];
      const double upper = (*values)[2 * i + 1];
      return kernels::order_internal::Interpolate(lower, upper, upper - lower, places[i].weight);
    };
    summary_.lower_quartile = between(0);
    summary_.upper_quartile = between(1);
    return absl::OkStatus();
  }

  // Samples by their places among those that count.
  absl::StatusOr<std::vector<double>> AtRanks(std::vector<uint64_t> ranks) {
    for (uint64_t& rank : ranks) rank += first_;
    const absl::StatusOr<kernels::QuantilePlan> plan = kernels::PlanQuantiles(
        array_, {.ranks = std::move(ranks), .nan_policy = kernels::NanPolicy::kIgnore});
    if (!plan.ok()) return plan.status();
    const absl::StatusOr<kernels::QuantileResult> result = Run([&](kernels::RunStatistics& run) {
      return lane_.RunQuantiles(*plan, samples_, stop_, run);
    });
    if (!result.ok()) return result.status();
    std::vector<double> values;
    for (size_t i = 0; i < result->slots.size(); ++i) {
      values.push_back(ToDouble(result->slots[i], kernels::KindOfTarget(*plan, i)));
    }
    return values;
  }

  const PlannedHistogram& planned_;
  const kernels::HistogramPlan& plan_;
  const kernels::ArrayDescription array_;
  const kernels::InputSpan& samples_;
  kernels::Lane& lane_;
  const std::stop_token& stop_;
  kernels::RunStatistics& statistics_;
  SampleSummary summary_;
  uint64_t first_ = 0;
};

}  // namespace

absl::Status ApplyRule(const PlannedHistogram& planned, const kernels::InputSpan& samples,
                       kernels::Lane& lane, const std::stop_token& stop,
                       kernels::HistogramPlan& plan, kernels::RunStatistics& statistics) {
  const absl::StatusOr<SampleSummary> summary =
      SummaryRun(planned, plan, samples, lane, stop, statistics).Summarize();
  if (!summary.ok()) return summary.status();
  kernels::PlannedBins& bins = plan.bins.front();
  const double count = bins.automatic_range
                           ? kernels::BinCountByRule(planned.rule->rule, *summary,
                                                     summary->smallest, summary->largest)
                           : kernels::BinCountByRule(planned.rule->rule, *summary, bins.lower_bound,
                                                     bins.upper_bound);
  if (count > static_cast<double>(bins.bin_count)) {
    return kernels::AboveLimit(
        kRuleField, absl::StrCat("the rule makes ", count, " bins, more than the ", bins.bin_count,
                                 " that so many samples may have here"));
  }
  bins.bin_count = static_cast<uint64_t>(count);
  return kernels::CompletePlan(stop, plan);
}

}  // namespace gridfold::server
