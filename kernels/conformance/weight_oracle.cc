#include "kernels/conformance/weight_oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "kernels/conformance/exact_sum.h"

namespace gridfold::kernels::conformance {

namespace {

// Adds a finite number of up to 64 bits as two of float64.
void AddLong(long double x, ExactSum& sum) {
  const auto high = static_cast<double>(x);
  sum.Add(high);
  sum.Add(static_cast<double>(x - high));
}

void Classify(long double weight, ExpectedWeightSum& sum) {
  sum.saw_nan = sum.saw_nan || std::isnan(weight);
  sum.saw_positive_infinity = sum.saw_positive_infinity || (std::isinf(weight) && weight > 0);
  sum.saw_negative_infinity = sum.saw_negative_infinity || (std::isinf(weight) && weight < 0);
  sum.saw_other_than_negative_zero =
      sum.saw_other_than_negative_zero || weight != 0 || !std::signbit(weight);
}

// The number that limbs of 64 bits, least significant first, in two's complement stand for.
Dyadic NumberOf(const uint64_t* limbs, int count, int exponent) {
  const bool negative = limbs[count - 1] >> 63 != 0;
  std::vector<uint32_t> magnitude;
  bool carry = negative;
  for (int i = 0; i < count; ++i) {
    const uint64_t limb = (negative ? ~limbs[i] : limbs[i]) + (carry ? 1 : 0);
    carry = carry && limb == 0;
    magnitude.push_back(static_cast<uint32_t>(limb));
    magnitude.push_back(static_cast<uint32_t>(limb >> 32));
  }
  return Dyadic(negative, std::move(magnitude), exponent);
}

// The flags of a floating-point state, by their definition in numerics/sums/exact_sum.h.
uint32_t FlagsOf(const ExpectedWeightSum& sum) {
  uint32_t flags = 0;
  if (sum.saw_nan || sum.saw_positive_infinity) flags |= 1;
  if (sum.saw_nan || sum.saw_negative_infinity) flags |= 2;
  if (sum.saw_other_than_negative_zero) flags |= 4;
  return flags;
}

template <class F>
void CheckState(const kernels::ExactSum<F, 1>& state, const ExpectedWeightSum& expected) {
  EXPECT_EQ(state.flags(), FlagsOf(expected));
  // What is not finite has no number.
  const Dyadic number = NumberOf(state.limbs(), state.kLimbs, state.kLowestExponent);
  EXPECT_TRUE(number == (expected.IsFinite() ? expected.number : Dyadic()));
}

void CheckState(__int128 state, const ExpectedWeightSum& expected) {
  EXPECT_TRUE(Dyadic::FromInteger(state) == expected.number);
}

template <class State>
void CheckOne(const HistogramWeightStates& states, uint64_t i, const ExpectedWeightSum& expected) {
  ASSERT_TRUE(std::holds_alternative<std::vector<State>>(states));
  const auto& all = std::get<std::vector<State>>(states);
  ASSERT_LT(i, all.size());
  CheckState(all[i], expected);
}

}  // namespace

double ExpectedWeightSum::Rounded() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (saw_nan || (saw_positive_infinity && saw_negative_infinity)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (saw_positive_infinity) return kInfinity;
  if (saw_negative_infinity) return -kInfinity;
  return number.ToDouble();
}

void ForEachWeightSum(std::vector<WeightInBin> weights,
                      const std::function<void(uint64_t, const ExpectedWeightSum&)>& visit) {
  std::sort(weights.begin(), weights.end(),
            [](const WeightInBin& a, const WeightInBin& b) { return a.bin < b.bin; });
  for (size_t i = 0; i < weights.size();) {
    const uint64_t bin = weights[i].bin;
    ExpectedWeightSum expected;
    ExactSum sum;
    for (; i < weights.size() && weights[i].bin == bin; ++i) {
      Classify(weights[i].weight, expected);
      if (std::isfinite(weights[i].weight)) AddLong(weights[i].weight, sum);
    }
    expected.number = sum.Value();
    visit(bin, expected);
  }
}

void ExpectSameBits(double actual, double expected, uint64_t bin) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << "bin " << bin << " is " << actual;
  } else {
    EXPECT_EQ(std::bit_cast<uint64_t>(actual), std::bit_cast<uint64_t>(expected))
        << "bin " << bin << " is " << actual << ", expected " << expected;
  }
}

void CheckWeightState(const HistogramWeightStates& states, uint64_t i, ElementType type,
                      const ExpectedWeightSum& expected) {
  SCOPED_TRACE(testing::Message() << "state " << i);
  if (!IsFloatingPoint(type)) return CheckOne<__int128>(states, i, expected);
  if (type == ElementType::kFloat64) {
    return CheckOne<kernels::ExactSum<double, 1>>(states, i, expected);
  }
  CheckOne<kernels::ExactSum<float, 1>>(states, i, expected);
}

}  // namespace gridfold::kernels::conformance
