// Sums by key where keys are few: nothing is brought in order, but the keys are counted as samples
// of a histogram, and once more with the values as weights, whose sums are exact as those of a
// reduction are (numerics/sums/weight_sum.h).
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/accumulators/reduction_finish.h"
#include "kernels/contract/histogram.h"
#include "kernels/cuda/bykey/zeros.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels::cuda {

namespace {

// Whose sums are brought to the host, where they are finished.
constexpr uint64_t kBinsMax = 65'536;
// Elements for each bin, below which counters cost more than a sort.
constexpr uint64_t kElementsPerBin = 4;

bool IsResident(const InputSpan& span) { return std::holds_alternative<ResidentSpan>(span); }

// Whether sums and counts are all that is asked for.
bool AsksForSums(const KeyedReductionPlan& plan) {
  return (PartsOf(plan.reduction) & ~kSumPart) == 0 && !HasFloatingProduct(plan.reduction) &&
         !plan.reduction.return_states && plan.quantiles.targets.empty();
}

// The groups that bins stand for begin with this one.
uint64_t FirstGroup(const KeyedReductionPlan& plan, const HistogramPlan& counts) {
  if (!plan.has_bins()) return counts.bins.front().first_value_bits();
  if (!plan.refuses_outside) return 0;
  return counts.bins.front().first_value_bits() - plan.axes.front().bins.front().first_value_bits();
}

// The groups that occur, and where they would begin if elements were in order.
void SetGroups(const KeyedReductionPlan& plan, const HistogramPlan& bins,
               const HistogramCounts& counted, KeyedReductionResult& result) {
  result.underflow_count = counted.underflow_count;
  result.overflow_count = counted.overflow_count;
  result.nan_count = counted.nan_count;
  const uint64_t first_group = FirstGroup(plan, bins);
  result.offsets = {0};
  for (size_t bin = 0; bin < counted.counts.size(); ++bin) {
    if (counted.counts[bin] == 0) continue;
    result.groups.push_back(first_group + bin);
    result.offsets.push_back(result.offsets.back() + counted.counts[bin]);
  }
}

// What is kept of the sums of bins.
enum class Keeps : uint8_t {
  kRounded,
  kStates,              // Of which those of negative zeros may be those of zeros.
  kStatesAndZeroSigns,  // Which takes additions in more than a window (weights/windows.cu).
};

// The least from which the values of groups can be had, but for the signs of zeros.
Keeps LeastFor(const ReductionPlan& plan) {
  if (!IsFloatingPoint(plan.array.element_type)) return Keeps::kStatesAndZeroSigns;
  for (const Statistic statistic : plan.statistics) {
    if (statistic != Statistic::kSum && statistic != Statistic::kCount) return Keeps::kStates;
  }
  return Keeps::kRounded;
}

HistogramPlan PlanSums(const HistogramPlan& counts, ElementType type, Keeps keeps) {
  HistogramPlan sums = counts;
  sums.weight_type = type;
  sums.return_states = keeps != Keeps::kRounded;
  sums.keeps_zero_signs = keeps == Keeps::kStatesAndZeroSigns;
  return sums;
}

// Whether the sum of a bin with elements is a zero.
bool HasZero(const std::vector<uint64_t>& counts, const std::vector<double>& sums) {
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] != 0 && sums[bin] == 0) return true;
  }
  return false;
}

// The values of the groups that occur, from the states of all bins' sums.
absl::StatusOr<ReductionResult> ValuesOfStates(const ReductionPlan& groups,
                                               const std::vector<uint64_t>& counts,
                                               const HistogramWeightStates& sums) {
  ValueCollector values(groups, AnswerOf::kArray);
  absl::Status status = VisitElementType(groups.array.element_type, [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    const auto& of_bins = std::get<std::vector<WeightSum<T>>>(sums);
    FullState<ComputeType<T>> state;
    uint64_t group = 0;
    for (size_t bin = 0; bin < counts.size(); ++bin) {
      if (counts[bin] == 0) continue;
      state.template Part<kSumPart>().sum = of_bins[bin];
      absl::Status added = values.Add(group++, counts[bin], state);
      if (!added.ok()) return added;
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return std::move(values).Finish();
}

// The values of the groups that occur, sums and counts, from the rounded sums of all bins.
ReductionResult ValuesOfRounded(const ReductionPlan& groups, const std::vector<uint64_t>& counts,
                                const std::vector<double>& sums) {
  ReductionResult result = MakeReductionResult(groups);
  for (StatisticColumn& column : result.columns) {
    uint64_t group = 0;
    for (size_t bin = 0; bin < counts.size(); ++bin) {
      if (counts[bin] == 0) continue;
      column.slots[group++] = column.statistic == Statistic::kCount ? counts[bin] : Slot(sums[bin]);
    }
  }
  return result;
}

}  // namespace

std::optional<HistogramPlan> CudaLane::PlanKeyCounts(const KeyedReductionPlan& plan,
                                                     const KeyedInput& input,
                                                     const std::vector<PlannedBins>& bins) const {
  if (plan.axes.size() != 1) return std::nullopt;
  HistogramPlan counts = plan.axes.front();
  counts.bins = bins;
  counts.bins.front().automatic_range = false;  // It has been found.
  if (!SumsByHistogram(plan, input, counts)) return std::nullopt;
  return counts;
}

std::optional<HistogramPlan> CudaLane::PlanKeyCounts(
    const KeyedReductionPlan& plan, const KeyedInput& input,
    const std::optional<KeyInterval>& interval) const {
  if (!interval) return std::nullopt;
  IntegerBinsSpec bins{.bin_count = interval->key_count};
  if (IsUnsigned(plan.keys.element_type) && static_cast<int64_t>(interval->first_key) < 0) {
    bins.first_unsigned_value = interval->first_key;
  } else {
    bins.first_value = static_cast<int64_t>(interval->first_key);
  }
  HistogramSpec spec;
  spec.bins.push_back(bins);
  absl::StatusOr<HistogramPlan> counts = PlanHistogram(plan.keys, std::move(spec), kBinsMax);
  if (!counts.ok() || !SumsByHistogram(plan, input, *counts)) return std::nullopt;
  return *std::move(counts);
}

bool CudaLane::SumsByHistogram(const KeyedReductionPlan& plan, const KeyedInput& input,
                               const HistogramPlan& counts) const {
  const uint64_t bin_count = counts.total_bin_count();
  return AsksForSums(plan) && IsResident(input.keys) && IsResident(input.values) &&
         bin_count <= std::min(kBinsMax, options_.bin_count_max) &&
         plan.keys.element_count / kElementsPerBin >= bin_count;
}

absl::StatusOr<bool> CudaLane::SumByHistogram(const KeyedReductionPlan& plan,
                                              const HistogramPlan& counts, const KeyedInput& input,
                                              const std::stop_token& stop,
                                              RunStatistics& statistics,
                                              KeyedReductionResult& result) {
  const auto count = [&](const HistogramPlan& histogram, const InputSpan& weights) {
    RunStatistics run;
    absl::StatusOr<HistogramResult> counted = RunHistogram(
        histogram, {.array = input.keys, .y_array = HostSpan{}, .weights = weights}, stop, run);
    statistics.Add(run);
    return counted;
  };
  const absl::StatusOr<HistogramResult> counted = count(counts, HostSpan{});
  if (!counted.ok()) return counted.status();
  const HistogramCounts& channel = counted->channels.front();
  if (plan.refuses_outside && channel.underflow_count + channel.overflow_count > 0) return false;
  SetGroups(plan, counts, channel, result);
  if (result.groups.size() > plan.group_count_max) return TooManyKeys(plan);

  const ElementType type = plan.reduction.array.element_type;
  Keeps keeps = LeastFor(plan.reduction);
  absl::StatusOr<HistogramResult> summed = count(PlanSums(counts, type, keeps), input.values);
  if (!summed.ok()) return summed.status();
  if (keeps != Keeps::kStatesAndZeroSigns &&
      HasZero(channel.counts, summed->channels.front().weight_sums)) {
    const absl::StatusOr<bool> has_signs = HasNegativeZeros(plan, input, stop, statistics);
    if (!has_signs.ok()) return has_signs.status();
    if (*has_signs) {
      keeps = Keeps::kStatesAndZeroSigns;
      summed = count(PlanSums(counts, type, keeps), input.values);
      if (!summed.ok()) return summed.status();
    }
  }
  statistics.strategy = "by-key/histogram";
  const ReductionPlan groups = PlanOfGroups(plan, result.offsets);
  absl::StatusOr<ReductionResult> values =
      keeps == Keeps::kRounded
          ? ValuesOfRounded(groups, channel.counts, summed->channels.front().weight_sums)
          : ValuesOfStates(groups, channel.counts, summed->weight_states);
  if (!values.ok()) return values.status();
  result.reduction = *std::move(values);
  return true;
}

absl::StatusOr<bool> CudaLane::HasNegativeZeros(const KeyedReductionPlan& plan,
                                                const KeyedInput& input,
                                                const std::stop_token& stop,
                                                RunStatistics& statistics) {
  uint32_t found = 0;
  RunStatistics run;
  const absl::Status status = Run(run, [&]() -> absl::Status {
    if (absl::Status begun = BeginKernels(stop); !begun.ok()) return begun;
    auto* const place = reinterpret_cast<uint32_t*>(input.room.data);
    absl::Status launched = LaunchFindNegativeZeros(
        plan.reduction.array.element_type, std::get<ResidentSpan>(input.values).data,
        plan.keys.element_count, place, properties_, stream_.get());
    if (launched.ok()) launched = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
    if (!launched.ok()) return launched;
    const MutableHostSpan to{reinterpret_cast<std::byte*>(&found), sizeof(found)};
    return CopyOut(input.room.data, std::span(&to, 1), stop);
  });
  statistics.Add(run);
  if (!status.ok()) return status;
  return found != 0;
}

}  // namespace gridfold::kernels::cuda
