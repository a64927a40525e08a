#include "kernels/folds/weighted_quantiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/contract/input_part.h"
#include "kernels/folds/key_edges.h"
#include "kernels/numerics/paired/big_integer.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels {

namespace {

// Of a bin's sum, in units that all sums of a type of weights share.
BigInteger NumberOf(Int128 sum) {
  const uint64_t limbs[] = {static_cast<uint64_t>(sum), static_cast<uint64_t>(sum >> 64)};
  return BigInteger::OfSigned(limbs);
}
template <class F>
BigInteger NumberOf(const ExactSum<F, 1>& sum) {
  return BigInteger::OfSigned(std::span(sum.limbs(), ExactSum<F, 1>::kLimbs));
}

// Exact sums of the weights of bins, from the first one on.
class RunningSums {
 public:
  explicit RunningSums(HistogramWeightStates states) : sums_(std::move(states)) {
    std::visit(
        [](auto& sums) {
          if constexpr (requires { sums.size(); }) {
            for (size_t bin = 1; bin < sums.size(); ++bin) Merge(sums[bin - 1], sums[bin]);
          }
        },
        sums_);
  }

  // Of the bins before this one.
  BigInteger Before(size_t bin) const {
    if (bin == 0) return {};
    return std::visit(
        [bin](const auto& sums) {
          if constexpr (requires { sums.size(); }) return NumberOf(sums[bin - 1]);
          return BigInteger();
        },
        sums_);
  }

 private:
  HistogramWeightStates sums_;
};

// What is known of a quantile: that it is among the keys of an interval.
struct Wanted {
  double quantile = 0;
  uint64_t first_key = 0;  // Of the interval; the answer's at last.
  BigInteger below = {};   // Weights of the elements with smaller keys.
  bool is_found = false;
};

// The elements of a group, their weights, and how the lane is asked about them.
class GroupSearch {
 public:
  GroupSearch(const WeightedQuantilePlan& plan, uint64_t element_count, const InputSpan& elements,
              const InputSpan& weights, Lane& lane, const std::stop_token& stop,
              RunStatistics& statistics)
      : plan_(plan),
        type_(plan.elements.array.element_type),
        array_(ArrayDescription::Vector(type_, element_count)),
        elements_(elements),
        weights_(weights),
        lane_(lane),
        stop_(stop),
        statistics_(statistics) {
    for (const QuantileTarget& target : plan.elements.targets) {
      wanted_.push_back({.quantile = target.quantile});
    }
  }

  // Looks for all quantiles. False where there are none, but NaN.
  absl::StatusOr<bool> Run(uint64_t group) {
    int width = KeyBits(type_);
    while (width > 0) {
      const int narrower = NextWidth(width);
      absl::Status status = narrower == 0 && HasInexactEdges(type_)
                                ? NarrowToIntegers(width)
                                : NarrowByEdges(width, narrower);
      if (!status.ok()) return status;
      if (is_all_nan()) return false;
      if (total_.is_zero()) return WeightsAreZero(group);
      width = narrower;
    }
    return true;
  }

  uint64_t KeyOf(size_t i) const { return wanted_[i].first_key; }

 private:
  bool is_all_nan() const {
    const bool propagates = plan_.elements.nan_policy == NanPolicy::kPropagate;
    return nan_count_ == array_.element_count || (propagates && nan_count_ > 0);
  }

  // Places of keys that the next pass leaves open, where it starts from so many.
  int NextWidth(int width) const {
    // No more bins than are worth it for a few elements.
    const uint64_t bins = std::clamp<uint64_t>(2 * array_.element_count, 256, kRefinedBins);
    const int bits = std::bit_width(bins / Intervals().size() + 1) - 1;
    const int narrower = width - std::clamp(bits, 1, width);
    if (!HasInexactEdges(type_)) return narrower;
    return width > kInexactEdgeBits ? std::max(narrower, kInexactEdgeBits) : 0;
  }

  // The first keys of all intervals in which something is looked for, in order.
  std::vector<uint64_t> Intervals() const {
    std::vector<uint64_t> keys;
    for (const Wanted& wanted : wanted_) {
      if (!wanted.is_found) keys.push_back(wanted.first_key);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    if (keys.empty()) keys.push_back(0);
    return keys;
  }

  absl::StatusOr<HistogramResult> Sum(BinSpec bins) {
    HistogramSpec spec;
    spec.bins.push_back(std::move(bins));
    spec.weight_type = plan_.weight_type;
    spec.return_states = true;
    absl::StatusOr<HistogramPlan> plan =
        PlanHistogram(array_, std::move(spec), std::numeric_limits<uint64_t>::max());
    if (!plan.ok()) return plan.status();
    RunStatistics run;
    absl::StatusOr<HistogramResult> result = lane_.RunHistogram(
        *plan, {.array = elements_, .y_array = HostSpan{}, .weights = weights_}, stop_, run);
    statistics_.Add(run);
    return result;
  }

  // Whether elements with so much of the weight are enough of them.
  bool Suffices(const BigInteger& sum, double quantile) const {
    return !sum.is_zero() && RoundedRatio(sum, total_, 0) >= quantile;
  }

  absl::Status NarrowByEdges(int width, int narrower) {
    const KeyEdges cut = CutKeys(type_, Intervals(), width, narrower);
    absl::StatusOr<HistogramResult> result = Sum(EdgeBinsSpec{cut.edges});
    if (!result.ok()) return result.status();
    const RunningSums sums(std::move(result->weight_states));
    if (width == KeyBits(type_)) {
      total_ = sums.Before(cut.first_keys.size());
      nan_count_ = result->channels.front().nan_count;
      if (is_all_nan() || total_.is_zero()) return absl::OkStatus();
    }
    for (Wanted& wanted : wanted_) {
      if (wanted.is_found) continue;
      const auto first =
          std::lower_bound(cut.first_keys.begin(), cut.first_keys.end(), wanted.first_key);
      const auto bin = static_cast<size_t>(first - cut.first_keys.begin());
      absl::Status status = Choose(cut.first_keys, sums, bin, wanted);
      if (!status.ok()) return status;
      if (cut.has_infinity_beside && wanted.first_key == cut.first_keys.back()) {
        if (status = CheckForInfinity(wanted); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // Moves to the first bin, from `bin` on, up to which there is enough weight.
  absl::Status Choose(const std::vector<uint64_t>& first_keys, const RunningSums& sums, size_t bin,
                      Wanted& wanted) {
    const BigInteger before = sums.Before(bin).Minus(wanted.below);
    const auto up_to = [&](size_t end) { return sums.Before(end).Minus(before); };
    size_t low = bin;
    size_t high = first_keys.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (Suffices(up_to(middle + 1), wanted.quantile)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (low == first_keys.size()) return absl::InternalError("the weights of bins are too small");
    wanted.below = up_to(low);
    wanted.first_key = first_keys[low];
    return absl::OkStatus();
  }

  // The last bin has the infinite elements too, since it is closed. The quantile is that where the
  // finite ones do not suffice.
  absl::Status CheckForInfinity(Wanted& wanted) {
    if (!finite_) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      absl::StatusOr<HistogramResult> result =
          Sum(EdgeBinsSpec{{-kInfinity, LargestFinite(type_)}});
      if (!result.ok()) return result.status();
      finite_ = RunningSums(std::move(result->weight_states)).Before(1);
    }
    if (Suffices(*finite_, wanted.quantile)) return absl::OkStatus();
    wanted.is_found = true;
    wanted.first_key = InfinityKey(type_);
    return absl::OkStatus();
  }

  // Bins of single integers, whose edges no float64 may be.
  absl::Status NarrowToIntegers(int width) {
    for (const uint64_t first_key : Intervals()) {
      std::vector<uint64_t> keys(uint64_t{1} << width);
      absl::StatusOr<HistogramResult> result = Sum(IntegersFrom(type_, first_key, keys.size()));
      if (!result.ok()) return result.status();
      const RunningSums sums(std::move(result->weight_states));
      for (size_t i = 0; i < keys.size(); ++i) keys[i] = first_key + i;
      for (Wanted& wanted : wanted_) {
        if (wanted.is_found || wanted.first_key != first_key) continue;
        if (absl::Status status = Choose(keys, sums, 0, wanted); !status.ok()) return status;
        wanted.is_found = true;
      }
    }
    return absl::OkStatus();
  }

  const WeightedQuantilePlan& plan_;
  const ElementType type_;
  const ArrayDescription array_;
  const InputSpan& elements_;
  const InputSpan& weights_;
  Lane& lane_;
  const std::stop_token& stop_;
  RunStatistics& statistics_;
  std::vector<Wanted> wanted_;
  BigInteger total_;  // Weights of all elements but NaNs.
  uint64_t nan_count_ = 0;
  std::optional<BigInteger> finite_;  // Weights of the finite elements, once they are asked for.
};

absl::Status CheckWeights(const WeightedQuantilePlan& plan, const InputSpan& weights, Lane& lane,
                          const std::stop_token& stop, RunStatistics& statistics) {
  const ElementType type = plan.weight_type;
  if (plan.elements.array.element_count == 0 || IsUnsigned(type)) return absl::OkStatus();
  ReductionSpec spec;
  spec.statistics = {Statistic::kMin, Statistic::kMax, Statistic::kArgmin, Statistic::kArgmax};
  const absl::StatusOr<ReductionPlan> extremes = PlanReduction(
      ArrayDescription::Vector(type, plan.elements.array.element_count), std::move(spec));
  if (!extremes.ok()) return extremes.status();
  RunStatistics run;
  const absl::StatusOr<ReductionResult> result = lane.RunReduction(*extremes, weights, stop, run);
  statistics.Add(run);
  if (!result.ok()) return result.status();
  const auto slot = [&](size_t i) { return result->columns[i].slots.front(); };
  if (!IsFloatingPoint(type)) {
    if (static_cast<int64_t>(slot(0)) >= 0) return absl::OkStatus();
    return FaultyWeight(slot(2), "negative");
  }
  const auto least = std::bit_cast<double>(slot(0));
  if (std::isnan(least)) return FaultyWeight(slot(2), "NaN");
  if (least < 0) return FaultyWeight(slot(2), "negative");
  if (std::isinf(std::bit_cast<double>(slot(1)))) return FaultyWeight(slot(3), "infinite");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<QuantileResult> FindWeightedQuantiles(const WeightedQuantilePlan& plan,
                                                     const InputSpan& elements,
                                                     const InputSpan& weights, Lane& lane,
                                                     const std::stop_token& stop,
                                                     RunStatistics& statistics) {
  statistics = RunStatistics{};
  absl::Status status = CheckWeights(plan, weights, lane, stop, statistics);
  if (!status.ok()) return status;
  const Grouping& grouping = plan.elements.grouping;
  const ElementType type = plan.elements.array.element_type;
  const uint64_t element_bytes = ElementSize(type);
  const uint64_t weight_bytes = ElementSize(plan.weight_type);
  const auto begin_of = [&grouping](uint64_t group) {
    return grouping.kind == GroupingKind::kSegments ? grouping.offsets[group]
                                                    : group * grouping.group_size;
  };
  QuantileResult result;
  result.slots.resize(plan.elements.result_slot_count());
  for (uint64_t group = 0; group < grouping.group_count; ++group) {
    const uint64_t first = begin_of(group);
    const uint64_t count = begin_of(group + 1) - first;
    const InputPart its_elements(elements, first * element_bytes, count * element_bytes);
    const InputPart its_weights(weights, first * weight_bytes, count * weight_bytes);
    GroupSearch search(plan, count, its_elements.span(), its_weights.span(), lane, stop,
                       statistics);
    const absl::StatusOr<bool> has_numbers = search.Run(group);
    if (!has_numbers.ok()) return has_numbers.status();
    for (size_t i = 0; i < plan.elements.targets.size(); ++i) {
      result.slots[i * grouping.group_count + group] =
          *has_numbers ? SlotOfKey(type, search.KeyOf(i)) : kNanSlot;
    }
  }
  statistics.strategy = "quantiles/weighted";
  return result;
}

}  // namespace gridfold::kernels
