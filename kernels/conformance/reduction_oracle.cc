#include "kernels/conformance/reduction_oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels::conformance {

namespace {

using Kind = ExpectedValue::Kind;

ExpectedValue Bits(uint64_t bits) { return {.kind = Kind::kBits, .bits = bits}; }
ExpectedValue Double(double x) {
  if (std::isnan(x)) return {.kind = Kind::kNan};
  return Bits(std::bit_cast<uint64_t>(x));
}

// The float64 number nearest to the root of `square`, which is not negative: the one whose
// distances to its neighbours' middles are on the right sides, by exact squares.
double RoundedRoot(const Dyadic& square) {
  if (square.Sign() == 0) return 0;
  const auto middle_squared = [](double low, double high) {
    const Dyadic sum = Dyadic::FromDouble(low).Plus(Dyadic::FromDouble(high));
    return sum.Times(sum).Times(Dyadic::FromDouble(0.25));
  };
  double root = static_cast<double>(std::sqrt(square.ToLongDouble()));
  for (;;) {
    const double below = std::nextafter(root, 0.0);
    const double above = std::nextafter(root, HUGE_VAL);
    if (std::isinf(above)) return root;  // No test goes so near to the largest number.
    const int from_below = square.Minus(middle_squared(below, root)).Sign();
    const int from_above = square.Minus(middle_squared(root, above)).Sign();
    const bool is_odd = (std::bit_cast<uint64_t>(root) & 1) != 0;  // Ties go to the even one.
    if (from_below < 0 || (from_below == 0 && is_odd)) {
      root = below;
    } else if (from_above > 0 || (from_above == 0 && is_odd)) {
      root = above;
    } else {
      return root;
    }
  }
}

// An element, widened to the kind of values that its type has.
ExpectedValue Element(ElementType type, long double x) {
  if (IsFloatingPoint(type)) return Double(static_cast<double>(x));
  return Bits(static_cast<uint64_t>(static_cast<__int128>(x)));
}

// Zero-extends the bits of unsigned elements, sign-extends those of signed ones.
uint64_t WidenBits(ElementType type, uint64_t bits) {
  if (!IsUnsigned(type)) return bits;
  return bits & (~uint64_t{0} >> (64 - 8 * ElementSize(type)));
}

bool FitsAccumulator(ElementType type, __int128 sum) {
  if (IsUnsigned(type)) return sum >= 0 && sum >> 64 == 0;
  return sum == static_cast<int64_t>(sum);
}

ExpectedValue IntegerTotal(uint64_t wrapped, bool fits, const ReductionSpec& spec) {
  if (!fits && spec.overflow_policy == OverflowPolicy::kError) return {.kind = Kind::kOverflow};
  return Bits(wrapped);
}

bool HasNanLeft(const GroupFacts& facts, const ReductionSpec& spec) {
  return facts.nan != 0 && spec.nan_policy == NanPolicy::kPropagate;
}

// A sum of finite elements, or what NaNs and infinities make of it.
ExpectedValue FloatTotal(const GroupFacts& facts, const ReductionSpec& spec, bool of_magnitudes,
                         ExpectedValue of_finite) {
  const bool opposite = facts.positive_infinity != 0 && facts.negative_infinity != 0;
  if (HasNanLeft(facts, spec) || (opposite && !of_magnitudes)) return {.kind = Kind::kNan};
  if (facts.positive_infinity != 0) return Double(HUGE_VAL);
  if (facts.negative_infinity != 0) return Double(of_magnitudes ? HUGE_VAL : -HUGE_VAL);
  return of_finite;
}

ExpectedValue ExpectSum(ElementType type, const GroupFacts& facts, const ReductionSpec& spec) {
  if (!IsFloatingPoint(type)) {
    return IntegerTotal(static_cast<uint64_t>(facts.integer_sum),
                        FitsAccumulator(type, facts.integer_sum), spec);
  }
  ExpectedValue of_finite = Double(facts.sum.ToDouble());
  if (facts.sum.Sign() == 0) {
    of_finite = Double(facts.count != 0 && facts.only_negative_zeros ? -0.0 : 0.0);
  }
  return FloatTotal(facts, spec, false, of_finite);
}

// A mean of 0 has the sign of its sum: negative where every element was -0.0, or where it is of
// negative numbers and too small for float64.
double SignedZero(double mean, const GroupFacts& facts) {
  const bool negative =
      facts.sum.Sign() < 0 || (facts.sum.Sign() == 0 && facts.only_negative_zeros);
  return mean == 0 && negative ? -0.0 : mean;
}

ExpectedValue ExpectMean(const GroupFacts& facts, const ReductionSpec& spec) {
  if (facts.count == 0) return {.kind = Kind::kNan};
  return FloatTotal(facts, spec, false,
                    Double(SignedZero(facts.sum.DividedBy(facts.count).ToDouble(), facts)));
}

ExpectedValue ExpectRange(ElementType type, const GroupFacts& facts) {
  if (!facts.has_extremes) return {.kind = Kind::kNan};
  if (!IsFloatingPoint(type)) {
    return Bits(
        static_cast<uint64_t>(static_cast<__int128>(facts.max) - static_cast<__int128>(facts.min)));
  }
  const bool is_finite = std::isfinite(facts.min) && std::isfinite(facts.max);
  if (!is_finite) return Double(static_cast<double>(facts.max - facts.min));
  const auto exact = [](long double x) { return Dyadic::FromDouble(static_cast<double>(x)); };
  return Double(exact(facts.max).Minus(exact(facts.min)).ToDouble());
}

ExpectedValue ExpectRootMeanSquare(const GroupFacts& facts, const ReductionSpec& spec) {
  if (facts.count == 0) return {.kind = Kind::kNan};
  return FloatTotal(facts, spec, true, Double(RoundedRoot(facts.squares.DividedBy(facts.count))));
}

// What is divided once more is the variance of a mean.
enum class Spread { kVariance, kDeviation, kError };

ExpectedValue ExpectSpread(const GroupFacts& facts, const ReductionSpec& spec, Spread spread) {
  const uint64_t ddof = spec.delta_degrees_of_freedom;
  const bool infinite = facts.positive_infinity + facts.negative_infinity != 0;
  if (HasNanLeft(facts, spec) || infinite || facts.count <= ddof) return {.kind = Kind::kNan};
  const Dyadic count = Dyadic::FromInteger(facts.count);
  const Dyadic numerator = count.Times(facts.squares).Minus(facts.sum.Times(facts.sum));
  const Dyadic variance = numerator.DividedBy(facts.count).DividedBy(facts.count - ddof);
  switch (spread) {
    case Spread::kVariance: break;
    case Spread::kDeviation: return Double(RoundedRoot(variance));
    case Spread::kError: return Double(RoundedRoot(variance.DividedBy(facts.count)));
  }
  return Double(variance.ToDouble());
}

}  // namespace

ExpectedValue ExpectStatistic(Statistic statistic, ElementType type, const GroupFacts& facts,
                              const ReductionSpec& spec) {
  const bool is_float = IsFloatingPoint(type);
  const bool nothing = !facts.has_extremes;
  switch (statistic) {
    case Statistic::kCount: return Bits(facts.count);
    case Statistic::kSum: return ExpectSum(type, facts, spec);
    case Statistic::kProduct:
      if (is_float) return Double(facts.tree_product);
      return IntegerTotal(facts.wrapped_product, facts.product_fits, spec);
    case Statistic::kMin: return nothing ? Double(std::nan("")) : Element(type, facts.min);
    case Statistic::kMax: return nothing ? Double(std::nan("")) : Element(type, facts.max);
    case Statistic::kArgmin:
      return nothing ? ExpectedValue{.kind = Kind::kNothing} : Bits(facts.argmin);
    case Statistic::kArgmax:
      return nothing ? ExpectedValue{.kind = Kind::kNothing} : Bits(facts.argmax);
    case Statistic::kMean: return ExpectMean(facts, spec);
    case Statistic::kVariance: return ExpectSpread(facts, spec, Spread::kVariance);
    case Statistic::kStandardDeviation: return ExpectSpread(facts, spec, Spread::kDeviation);
    case Statistic::kL1Norm:
      return FloatTotal(facts, spec, true, Double(facts.magnitudes.ToDouble()));
    case Statistic::kL2Norm:
      return FloatTotal(facts, spec, true, Double(RoundedRoot(facts.squares)));
    case Statistic::kNonzeroCount: return Bits(facts.nonzero);
    case Statistic::kNanCount: return Bits(facts.nan);
    case Statistic::kInfinityCount: return Bits(facts.positive_infinity + facts.negative_infinity);
    case Statistic::kAll: return Bits(facts.nonzero == facts.count ? 1 : 0);
    case Statistic::kAny: return Bits(facts.nonzero != 0 ? 1 : 0);
    case Statistic::kBitwiseAnd: return Bits(WidenBits(type, facts.bits_and));
    case Statistic::kBitwiseOr: return Bits(WidenBits(type, facts.bits_or));
    case Statistic::kBitwiseXor: return Bits(WidenBits(type, facts.bits_xor));
    case Statistic::kRange: return ExpectRange(type, facts);
    case Statistic::kRootMeanSquare: return ExpectRootMeanSquare(facts, spec);
    case Statistic::kStandardError: return ExpectSpread(facts, spec, Spread::kError);
  }
  return {};
}

namespace {

bool Agrees(const ExpectedValue& expected, uint64_t slot) {
  const auto number = std::bit_cast<double>(slot);
  switch (expected.kind) {
    case Kind::kBits: return slot == expected.bits;
    case Kind::kNan: return std::isnan(number);
    case Kind::kOverflow:
    case Kind::kNothing: break;
  }
  return false;
}

std::string DescribeValue(ValueKind kind, uint64_t slot) {
  if (kind == ValueKind::kInt64) return std::to_string(static_cast<int64_t>(slot));
  if (kind == ValueKind::kDouble) {
    return testing::PrintToString(std::bit_cast<double>(slot)) + " (bits " + std::to_string(slot) +
           ")";
  }
  return std::to_string(slot);
}

std::string DescribeExpected(ValueKind kind, const ExpectedValue& expected) {
  if (expected.kind == Kind::kNan) return "NaN";
  return expected.kind == Kind::kBits ? DescribeValue(kind, expected.bits) : "an error";
}

// Columns[s][g]: what statistic s of group g must be.
std::vector<std::vector<ExpectedValue>> ExpectAll(const TestArray& array,
                                                  const ReductionSpec& spec) {
  std::vector<std::vector<ExpectedValue>> columns(spec.statistics.size());
  for (const GroupElements& group : GroupsOf(array.description(), spec.grouping)) {
    const GroupFacts facts = ExamineGroup(array, group, spec.nan_policy == NanPolicy::kIgnore);
    for (size_t s = 0; s < columns.size(); ++s) {
      columns[s].push_back(ExpectStatistic(spec.statistics[s], array.type(), facts, spec));
    }
  }
  return columns;
}

bool Contains(const std::vector<std::vector<ExpectedValue>>& columns, Kind kind) {
  for (const auto& column : columns) {
    for (const ExpectedValue& value : column) {
      if (value.kind == kind) return true;
    }
  }
  return false;
}

}  // namespace

void CheckReduction(const TestArray& array, const ReductionSpec& spec,
                    const absl::StatusOr<ReductionResult>& result) {
  SCOPED_TRACE(Describe(array.description()));
  const std::vector<std::vector<ExpectedValue>> columns = ExpectAll(array, spec);
  if (Contains(columns, Kind::kOverflow)) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kOutOfRange) << result.status();
    return;
  }
  if (Contains(columns, Kind::kNothing)) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
    return;
  }
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->columns.size(), columns.size());
  for (size_t s = 0; s < columns.size(); ++s) {
    const StatisticColumn& column = result->columns[s];
    EXPECT_EQ(column.statistic, spec.statistics[s]);
    ASSERT_EQ(column.slots.size(), columns[s].size()) << StatisticName(column.statistic);
    for (size_t g = 0; g < columns[s].size(); ++g) {
      EXPECT_TRUE(Agrees(columns[s][g], column.slots[g]))
          << StatisticName(column.statistic) << " of group " << g << " is "
          << DescribeValue(column.kind, column.slots[g]) << ", expected "
          << DescribeExpected(column.kind, columns[s][g]);
    }
  }
}

}  // namespace gridfold::kernels::conformance
