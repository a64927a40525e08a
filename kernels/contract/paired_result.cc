// What sums come to: MakePairedResult of paired.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/paired.h"
#include "kernels/numerics/paired/big_integer.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {

namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// One exact sum.
struct Sum {
  BigInteger number;
  uint32_t flags = 0;
  bool is_finite() const { return (flags & kSawNan) == 0; }
  double NotFiniteValue() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if ((flags & kSawNan) == kSawPositiveInfinity) return kInfinity;
    return (flags & kSawNan) == kSawNegativeInfinity ? -kInfinity : kNotANumber;
  }
};

// The sums by what they are sums of. Exponents are those of the elements' unit, `unit`, times the
// number of factors.
class Sums {
 public:
  Sums(const PairedPlan& plan, const PairedSums& sums)
      : plan_(plan),
        sums_(sums),
        offsets_(LimbOffsets(plan)),
        unit_(FormatOf(plan, {.factor_count = 1, .factors = {}}).lowest_exponent),
        weights_(static_cast<uint8_t>(plan.column_count)) {}

  // Exponent of what elements are multiples of, and of weights, which without them are integers.
  int unit() const { return unit_; }
  int weight_unit() const { return plan_.has_weights ? unit_ : 0; }
  uint64_t observation_count() const { return sums_.observation_count; }

  Sum OfColumn(uint64_t i) const { return OfWeighted({i}); }
  Sum OfProduct(uint64_t i, uint64_t j) const {
    return OfWeighted({std::min(i, j), std::max(i, j)});
  }
  Sum OfWeights() const {
    if (plan_.has_weights) return OfWeighted({});
    return {BigInteger(sums_.observation_count), kSawOtherThanNegativeZero};
  }
  Sum OfSquaredWeights() const {
    return Find({.factor_count = 2, .factors = {weights_, weights_}});
  }

 private:
  Sum OfWeighted(std::initializer_list<uint64_t> columns) const {
    PairedTerm term;
    for (const uint64_t column : columns) {
      term.factors[term.factor_count++] = static_cast<uint8_t>(column);
    }
    if (plan_.has_weights) term.factors[term.factor_count++] = weights_;
    return Find(term);
  }
  Sum Find(const PairedTerm& term) const {
    const auto place = std::lower_bound(plan_.terms.begin(), plan_.terms.end(), term);
    const auto t = static_cast<size_t>(place - plan_.terms.begin());
    const std::span<const uint64_t> limbs =
        std::span(sums_.limbs).subspan(offsets_[t], offsets_[t + 1] - offsets_[t]);
    return {BigInteger::OfSigned(limbs), sums_.flags[t]};
  }

  const PairedPlan& plan_;
  const PairedSums& sums_;
  const std::vector<size_t> offsets_;
  const int unit_;
  const uint8_t weights_;
};

// The values of statistics but for dot products.
class Values {
 public:
  Values(const PairedPlan& plan, const Sums& sums)
      : plan_(plan), sums_(sums), total_weight_(sums.OfWeights().number) {
    for (uint64_t i = 0; i < plan.column_count; ++i) columns_.push_back(SumOf(i));
  }

  double Mean(uint64_t i) const {
    if (total_weight_.is_zero()) return kNotANumber;
    const Sum sum = sums_.OfColumn(i);
    if (!sum.is_finite()) return sum.NotFiniteValue();
    const double mean = RoundedRatio(sum.number, total_weight_, sums_.unit());
    // As that of a reduction: of nothing but negative zeros it is one.
    return mean == 0 && (sum.flags & kSawOtherThanNegativeZero) == 0 ? -0.0 : mean;
  }

  double Covariance(uint64_t i, uint64_t j) const {
    const BigInteger& divisor = Divisor();
    if (divisor.is_zero() || divisor.is_negative()) return kNotANumber;
    const std::optional<BigInteger> deviations = Deviations(i, j);
    if (!deviations) return kNotANumber;
    return RoundedRatio(*deviations, divisor, 2 * sums_.unit());
  }

  double Correlation(uint64_t i, uint64_t j) const {
    const std::optional<BigInteger>& x = Squares(i);
    const std::optional<BigInteger>& y = Squares(j);
    // The deviations of a column with itself are 0 where it is constant, and else positive.
    if (!x || !y || x->is_zero() || y->is_zero()) return kNotANumber;
    const std::optional<BigInteger> both = Deviations(i, j);
    if (!both) return kNotANumber;
    // The square's leading bits are enough for its root's (exact_quotient.h).
    const double magnitude =
        RoundToDouble(SquareRoot(LeadingRatio(both->Times(*both), x->Times(*y), 0)));
    return both->is_negative() ? -magnitude : magnitude;
  }

 private:
  std::optional<Sum> SumOf(uint64_t i) const {
    const bool is_needed =
        std::any_of(plan_.statistics.begin(), plan_.statistics.end(),
                    [](PairedStatistic statistic) { return statistic != PairedStatistic::kDot; });
    if (!is_needed) return std::nullopt;
    return sums_.OfColumn(i);
  }

  // W * sum(wxy) - sum(wx) * sum(wy); none where an element is not finite.
  std::optional<BigInteger> Deviations(uint64_t i, uint64_t j) const {
    const Sum product = sums_.OfProduct(i, j);
    const Sum& x = *columns_[i];
    const Sum& y = *columns_[j];
    if (!product.is_finite() || !x.is_finite() || !y.is_finite()) return std::nullopt;
    return total_weight_.Times(product.number).Minus(x.number.Times(y.number));
  }

  const std::optional<BigInteger>& Squares(uint64_t i) const {
    if (squares_.empty()) {
      for (uint64_t k = 0; k < plan_.column_count; ++k) squares_.push_back(Deviations(k, k));
    }
    return squares_[i];
  }

  // Of covariances; above 0 where they are defined. In the square of the weights' unit.
  const BigInteger& Divisor() const {
    if (divisor_) return *divisor_;
    const BigInteger square = total_weight_.Times(total_weight_);
    const BigInteger degrees(plan_.delta_degrees_of_freedom);
    if (plan_.has_weights && plan_.weight_kind == WeightKind::kReliability) {
      divisor_ = square.Minus(sums_.OfSquaredWeights().number.Times(degrees));
    } else {
      divisor_ = square.Minus(total_weight_.Times(degrees).ShiftedUp(-sums_.weight_unit()));
    }
    return *divisor_;
  }

  const PairedPlan& plan_;
  const Sums& sums_;
  const BigInteger total_weight_;
  std::vector<std::optional<Sum>> columns_;
  mutable std::vector<std::optional<BigInteger>> squares_;
  mutable std::optional<BigInteger> divisor_;
};

// A sum of integers modulo 2^64; overflow where the type of sums does not hold it.
absl::StatusOr<uint64_t> IntegerSlot(const PairedPlan& plan, const BigInteger& sum) {
  const uint64_t low = sum.is_zero() ? 0 : sum.magnitude()[0];
  const uint64_t slot = sum.is_negative() ? uint64_t{0} - low : low;
  const bool is_unsigned = IsUnsigned(plan.x.element_type);
  const int length = sum.bit_length();
  const bool is_smallest = sum.is_negative() && length == 64 && low == uint64_t{1} << 63;
  const bool fits = length <= (is_unsigned ? 64 : 63) || (!is_unsigned && is_smallest);
  if (fits || plan.overflow_policy == OverflowPolicy::kWrap) return slot;
  return absl::OutOfRangeError(
      absl::StrCat("dot does not fit in ", ElementTypeName(AccumulatorType(plan.x.element_type))));
}

absl::StatusOr<uint64_t> DotSlot(const PairedPlan& plan, const Sums& sums, uint64_t i, uint64_t j) {
  const Sum sum = sums.OfProduct(i, j);
  if (!IsFloatingPoint(plan.x.element_type)) return IntegerSlot(plan, sum.number);
  if (!sum.is_finite()) return Slot(sum.NotFiniteValue());
  const double value =
      RoundedRatio(sum.number, BigInteger(1), 2 * sums.unit() + sums.weight_unit());
  const bool is_negative_zero = sum.number.is_zero() && sums.observation_count() > 0 &&
                                (sum.flags & kSawOtherThanNegativeZero) == 0;
  return Slot(is_negative_zero ? -0.0 : value);
}

absl::Status CheckWeights(const PairedPlan& plan, const Sums& sums) {
  if (!plan.has_weights) return absl::OkStatus();
  const Sum weights = sums.OfWeights();
  if (!weights.is_finite() || (weights.flags & kSawNegativeProduct) != 0) {
    return InvalidField("weights", "one of them is negative, infinite or not a number");
  }
  const bool divides = plan.statistics.size() > 1 || plan.statistics[0] != PairedStatistic::kDot;
  if (divides && weights.number.is_zero()) return InvalidField("weights", "their sum is 0");
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SlotOf(const PairedPlan& plan, const Sums& sums, const Values& values,
                                PairedStatistic statistic, uint64_t i, uint64_t j) {
  switch (statistic) {
    case PairedStatistic::kDot: return DotSlot(plan, sums, i, j);
    case PairedStatistic::kCovariance: return Slot(values.Covariance(i, j));
    case PairedStatistic::kCorrelation: return Slot(values.Correlation(i, j));
    case PairedStatistic::kMean: return Slot(values.Mean(i));
    case PairedStatistic::kVariance: return Slot(values.Covariance(i, i));
  }
  return absl::InternalError("no such statistic");
}

ValueKind KindOf(const PairedPlan& plan, PairedStatistic statistic) {
  return statistic == PairedStatistic::kDot ? ValueKindOf(Statistic::kSum, plan.x.element_type)
                                            : ValueKind::kDouble;
}

absl::Status Fill(const PairedPlan& plan, const Sums& sums, const Values& values,
                  PairedColumn& column) {
  const PairedStatistic statistic = column.statistic;
  const auto put = [&](uint64_t place, uint64_t i, uint64_t j) {
    absl::StatusOr<uint64_t> slot = SlotOf(plan, sums, values, statistic, i, j);
    if (slot.ok()) column.slots[place] = *slot;
    return slot.status();
  };
  if (IsOfTwoColumns(statistic) && plan.has_y) return put(0, 0, 1);
  const uint64_t columns = plan.column_count;
  for (uint64_t i = 0; i < columns; ++i) {
    if (!IsOfTwoColumns(statistic)) {
      if (absl::Status status = put(i, i, i); !status.ok()) return status;
      continue;
    }
    for (uint64_t j = i; j < columns; ++j) {
      if (absl::Status status = put(i * columns + j, i, j); !status.ok()) return status;
      column.slots[j * columns + i] = column.slots[i * columns + j];
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PairedResult> MakePairedResult(const PairedPlan& plan, const PairedSums& sums) {
  const Sums of(plan, sums);
  if (absl::Status status = CheckWeights(plan, of); !status.ok()) return status;
  const Values values(plan, of);
  PairedResult result{.columns = {}, .observation_count = sums.observation_count};
  for (const PairedStatistic statistic : plan.statistics) {
    PairedColumn column{.statistic = statistic,
                        .kind = KindOf(plan, statistic),
                        .slots = std::vector<uint64_t>(plan.ValueCount(statistic))};
    if (absl::Status status = Fill(plan, of, values, column); !status.ok()) return status;
    result.columns.push_back(std::move(column));
  }
  return result;
}

}  // namespace gridfold::kernels
