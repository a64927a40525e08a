#include "kernels/conformance/paired_oracle.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"

namespace gridfold::kernels::conformance {

namespace {

Dyadic Exactly(const TestArray& array, uint64_t i) {
  if (IsFloatingPoint(array.type())) return Dyadic::FromDouble(static_cast<double>(array[i]));
  return Dyadic::FromInteger(static_cast<__int128>(array[i]));
}

// The observations that count, column by column, and their weights.
class Observations {
 public:
  Observations(const PairedArrays& arrays, const PairedSpec& spec) : arrays_(arrays) {
    const ArrayDescription& x = arrays.x.description();
    columns_.resize(arrays.y != nullptr ? 2 : x.is_matrix ? x.columns : 1);
    const uint64_t count = x.is_matrix && arrays.y == nullptr ? x.rows : x.element_count;
    for (uint64_t i = 0; i < count; ++i) {
      if (spec.nan_policy == NanPolicy::kIgnore && HasNan(i)) continue;
      for (size_t c = 0; c < columns_.size(); ++c) {
        const auto [array, place] = PlaceOf(i, c);
        columns_[c].push_back(Exactly(*array, place));
      }
      weights_.push_back(arrays.weights != nullptr ? Exactly(*arrays.weights, i)
                                                   : Dyadic::FromInteger(1));
    }
  }

  size_t column_count() const { return columns_.size(); }
  size_t count() const { return weights_.size(); }

  Dyadic Weights() const {
    return Sum([](const Dyadic& w, size_t) { return w; });
  }
  Dyadic SquaredWeights() const {
    return Sum([](const Dyadic& w, size_t) { return w.Times(w); });
  }
  Dyadic Of(size_t i) const {
    return Sum([&](const Dyadic& w, size_t k) { return w.Times(columns_[i][k]); });
  }
  Dyadic Of(size_t i, size_t j) const {
    return Sum(
        [&](const Dyadic& w, size_t k) { return w.Times(columns_[i][k]).Times(columns_[j][k]); });
  }

 private:
  struct Place {
    const TestArray* array;
    uint64_t index;
  };
  Place PlaceOf(uint64_t i, size_t c) const {
    if (arrays_.y != nullptr) return {c == 0 ? &arrays_.x : arrays_.y, i};
    return {&arrays_.x, i * columns_.size() + c};
  }
  bool HasNan(uint64_t i) const {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const auto [array, place] = PlaceOf(i, c);
      if (std::isnan((*array)[place])) return true;
    }
    return arrays_.weights != nullptr && std::isnan((*arrays_.weights)[i]);
  }

  template <class Addend>
  Dyadic Sum(Addend addend) const {
    Dyadic sum;
    for (size_t k = 0; k < weights_.size(); ++k) sum = sum.Plus(addend(weights_[k], k));
    return sum;
  }

  const PairedArrays arrays_;
  std::vector<std::vector<Dyadic>> columns_;
  std::vector<Dyadic> weights_;
};

// Sign of numerator / denominator - (rounded + neighbour) / 2, or of the same with squares.
int SideOfHalfway(const Dyadic& numerator, const Dyadic& denominator, double rounded,
                  double neighbour) {
  const Dyadic both = Dyadic::FromDouble(rounded).Plus(Dyadic::FromDouble(neighbour));
  return numerator.Plus(numerator).Minus(both.Times(denominator)).Sign();
}

void ExpectQuotient(const Dyadic& numerator, const Dyadic& denominator, double value) {
  ASSERT_TRUE(std::isfinite(value));
  if (numerator.Sign() == 0) {
    EXPECT_EQ(value, 0);
    return;
  }
  EXPECT_GE(SideOfHalfway(numerator, denominator, value, std::nextafter(value, -INFINITY)), 0);
  EXPECT_LE(SideOfHalfway(numerator, denominator, value, std::nextafter(value, INFINITY)), 0);
}

// numerator / sqrt(square), by squares of both sides.
void ExpectQuotientOfRoot(const Dyadic& numerator, const Dyadic& square, double value) {
  if (numerator.Sign() == 0) {
    EXPECT_EQ(value, 0);
    return;
  }
  ASSERT_EQ(std::signbit(value), numerator.Sign() < 0);
  const double size = std::fabs(value);
  const Dyadic doubled = numerator.Plus(numerator);
  const auto side = [&](double neighbour) {
    const Dyadic both = Dyadic::FromDouble(size).Plus(Dyadic::FromDouble(neighbour));
    return doubled.Times(doubled).Minus(both.Times(both).Times(square)).Sign();
  };
  EXPECT_GE(side(std::nextafter(size, 0)), 0);
  EXPECT_LE(side(std::nextafter(size, INFINITY)), 0);
}

class Judge {
 public:
  Judge(const Observations& observations, const PairedSpec& spec)
      : observations_(observations), spec_(spec), weight_(observations.Weights()) {}

  void Check(PairedStatistic statistic, ValueKind kind, uint64_t slot, size_t i, size_t j) const {
    const double value = std::bit_cast<double>(slot);
    switch (statistic) {
      case PairedStatistic::kDot: return CheckDot(kind, slot, i, j);
      case PairedStatistic::kMean: return ExpectQuotient(observations_.Of(i), weight_, value);
      case PairedStatistic::kVariance: return CheckCovariance(value, i, i);
      case PairedStatistic::kCovariance: return CheckCovariance(value, i, j);
      case PairedStatistic::kCorrelation: return CheckCorrelation(value, i, j);
    }
  }

 private:
  Dyadic Deviations(size_t i, size_t j) const {
    return weight_.Times(observations_.Of(i, j))
        .Minus(observations_.Of(i).Times(observations_.Of(j)));
  }

  void CheckDot(ValueKind kind, uint64_t slot, size_t i, size_t j) const {
    const Dyadic dot = observations_.Of(i, j);
    if (kind == ValueKind::kDouble) {
      EXPECT_EQ(std::bit_cast<double>(slot), dot.ToDouble());
    } else if (kind == ValueKind::kInt64) {
      EXPECT_TRUE(Dyadic::FromInteger(static_cast<int64_t>(slot)) == dot);
    } else {
      EXPECT_TRUE(Dyadic::FromInteger(slot) == dot);
    }
  }

  void CheckCovariance(double value, size_t i, size_t j) const {
    const Dyadic degrees = Dyadic::FromInteger(spec_.delta_degrees_of_freedom);
    const bool reliability = spec_.has_weights && spec_.weight_kind == WeightKind::kReliability;
    const Dyadic divisor = weight_.Times(weight_).Minus(
        degrees.Times(reliability ? observations_.SquaredWeights() : weight_));
    if (divisor.Sign() <= 0) {
      EXPECT_TRUE(std::isnan(value));
      return;
    }
    ExpectQuotient(Deviations(i, j), divisor, value);
  }

  void CheckCorrelation(double value, size_t i, size_t j) const {
    const Dyadic square = Deviations(i, i).Times(Deviations(j, j));
    if (square.Sign() == 0) {
      EXPECT_TRUE(std::isnan(value));
      return;
    }
    EXPECT_TRUE(i != j || value == 1);
    ExpectQuotientOfRoot(Deviations(i, j), square, value);
  }

  const Observations& observations_;
  const PairedSpec& spec_;
  const Dyadic weight_;
};

}  // namespace

void CheckPaired(const PairedArrays& arrays, const PairedSpec& spec,
                 const absl::StatusOr<PairedResult>& result) {
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->columns.size(), spec.statistics.size());
  const Observations observations(arrays, spec);
  EXPECT_EQ(result->observation_count, observations.count());
  const Judge judge(observations, spec);
  const size_t columns = observations.column_count();
  for (size_t s = 0; s < spec.statistics.size(); ++s) {
    const PairedColumn& column = result->columns[s];
    SCOPED_TRACE(testing::Message() << PairedStatisticName(column.statistic) << " of "
                                    << Describe(arrays.x.description()));
    ASSERT_EQ(column.statistic, spec.statistics[s]);
    const bool is_of_two = IsOfTwoColumns(column.statistic);
    if (is_of_two && arrays.y != nullptr) {
      ASSERT_EQ(column.slots.size(), 1u);
      judge.Check(column.statistic, column.kind, column.slots[0], 0, 1);
      continue;
    }
    ASSERT_EQ(column.slots.size(), is_of_two ? columns * columns : columns);
    for (size_t k = 0; k < column.slots.size(); ++k) {
      const size_t i = is_of_two ? k / columns : k;
      judge.Check(column.statistic, column.kind, column.slots[k], i, is_of_two ? k % columns : k);
    }
  }
}

}  // namespace gridfold::kernels::conformance
