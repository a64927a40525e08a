#include "kernels/numerics/statistics/bounded_moments.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {
namespace {

// Exactly the integer, in units of a power of two, as pairs of float64 numbers are compared.
TEST(BoundedIntegerTest, HoldsTheIntegerOrSaysByHowMuchItDoesNot) {
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 20'000; ++turn) {
    const int bits = static_cast<int>(random() % 127) + 1;
    const Uint128 any = Uint128{random()} << 64 | random();
    Int128 x = static_cast<Int128>(any >> (128 - bits));
    if (turn % 2 != 0) x = -x;
    const BoundedNumber number = BoundedInteger(x, 0x1p-200);
    if (bits <= 114) {
      ASSERT_LE(number.error, std::ldexp(1, bits - 104 - 200));
    }
    if (number.error == BoundedNumber::kUnknown) {
      ASSERT_GT(bits, 114);
      continue;
    }
    const Int128 held =
        static_cast<Int128>(number.high * 0x1p200) + static_cast<Int128>(number.low * 0x1p200);
    const Int128 missed = held < x ? x - held : held - x;
    ASSERT_LE(static_cast<double>(missed), number.error * 0x1p200);
    ASSERT_EQ(number.high, number.high + number.low);
  }
  EXPECT_EQ(BoundedInteger(0, 1).high, 0);
  EXPECT_EQ(BoundedInteger(-1, 0.5).high, -0.5);
}

TEST(BoundedIntegerTest, TakesTheUpperBitsOfLongOnes) {
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 20'000; ++turn) {
    Uint192 x{{random(), random(), random()}};
    const int bits = 1 + static_cast<int>(random() % 192);
    for (int bit = bits; bit < 192; ++bit) x.limbs[bit / 64] &= ~(uint64_t{1} << bit % 64);
    const BoundedNumber number = BoundedInteger(x, 0x1p-300);
    ASSERT_LE(number.error, std::ldexp(1, bits - 104 - 300));
    // What is missing, modulo 2^192.
    Uint192 rest = x;
    for (const double part : {number.high * 0x1p300, number.low * 0x1p300}) {
      int exponent = 0;
      const double fraction = std::frexp(std::fabs(part), &exponent);
      const auto significand = static_cast<uint64_t>(std::ldexp(fraction, 53));
      const int shift = exponent - 53;
      Uint192 units;
      if (shift < 0) {
        units.limbs[0] = significand >> -shift;
      } else {
        for (int bit = 0; bit < 53; ++bit) {
          const int at = bit + shift;
          if ((significand >> bit & 1) != 0) units.limbs[at / 64] |= uint64_t{1} << at % 64;
        }
      }
      part < 0 ? rest.Merge(units) : rest.Subtract(units);
    }
    if ((rest.limbs[2] >> 63) != 0) {
      const Uint192 negative = rest;
      rest = {};
      rest.Subtract(negative);
    }
    const double missed = std::ldexp(static_cast<double>(rest.limbs[2]), 128) +
                          std::ldexp(static_cast<double>(rest.limbs[1]), 64) +
                          static_cast<double>(rest.limbs[0]);
    ASSERT_LE(missed, number.error * 0x1p300 * (1 + 0x1p-50)) << bits << " bits";
  }
}

// Groups of elements that are multiples of 2^-20.
std::vector<float> Elements(int kind, size_t count, std::mt19937_64& random) {
  std::vector<float> elements(count);
  std::normal_distribution<float> normal;
  for (float& x : elements) {
    const float far = kind == 1 ? 1000 : 0;
    x = std::nearbyint((normal(random) + far) * 0x1p20f) * 0x1p-20f;
    if (kind == 2) x = static_cast<float>(random() % 3) - 1;
    if (kind == 3) x = 0.5;
    if (kind == 4) x = random() % 2 == 0 ? 0.0f : -0.0f;
    if (kind == 5) x = -0.0f;
  }
  return elements;
}

// The oracle is the exact state, whose values are rounded once.
TEST(BoundedMomentsTest, CertainValuesAreThoseOfExactSums) {
  constexpr Statistic kStatistics[] = {
      Statistic::kSum,          Statistic::kMean,           Statistic::kVariance,
      Statistic::kL2Norm,       Statistic::kRootMeanSquare, Statistic::kStandardDeviation,
      Statistic::kStandardError};
  std::mt19937_64 random(4);
  int certain = 0;
  int asked = 0;
  for (int turn = 0; turn < 6'000; ++turn) {
    const int kind = turn % 6;
    const std::vector<float> elements = Elements(kind, 1 + random() % 200, random);
    ReductionState<float, kCorePartSet> state;
    Int128 sum = 0;
    Int128 squares = 0;
    bool are_equal = true;
    bool are_negative_zeros = true;
    for (const float x : elements) {
      state.Part<kSumPart>().sum.Add(x);
      state.Part<kSquaresPart>().sum.AddSquare(x);
      const Int128 units = static_cast<Int128>(x * 0x1p20f);
      sum += units;
      squares += units * units;
      are_equal = are_equal && x == elements[0];
      are_negative_zeros = are_negative_zeros && x == 0 && std::signbit(x);
    }
    const BoundedMoments moments{BoundedElements(sum, 0x1p-20, are_negative_zeros),
                                 BoundedInteger(squares, 0x1p-40), are_equal};
    for (const uint32_t ddof : {0u, 1u, 3u}) {
      const auto divisors = MomentDivisors::Of(elements.size(), ddof);
      for (const Statistic statistic : kStatistics) {
        double value = 0;
        EXPECT_TRUE(BoundedMoments::Has(statistic));
        ++asked;
        if (!moments.Value(statistic, divisors, value)) continue;
        ++certain;
        uint64_t expected = 0;
        const ValueRules rules{
            .ignore_nan = false, .wrap = false, .delta_degrees_of_freedom = ddof};
        ASSERT_EQ(StatisticValue(statistic, state, elements.size(), rules, &expected),
                  ValueOutcome::kOk);
        ASSERT_EQ(std::bit_cast<uint64_t>(value), expected)
            << StatisticName(statistic) << " of " << elements.size() << ", kind " << kind;
      }
    }
  }
  EXPECT_GE(certain, asked * 98 / 100);
}

TEST(BoundedMomentsTest, OtherStatisticsAndTooManyElementsAreNotCertain) {
  const BoundedMoments moments{{3, 0, 0}, {5, 0, 0}, false};
  double value = 0;
  EXPECT_TRUE(moments.Value(Statistic::kVariance, MomentDivisors::Of(2, 1), value));
  EXPECT_EQ(value, 0.5);
  EXPECT_TRUE(moments.Value(Statistic::kSum, MomentDivisors::Of(2, 2), value));
  EXPECT_FALSE(moments.Value(Statistic::kVariance, MomentDivisors::Of(2, 2), value));
  EXPECT_FALSE(moments.Value(Statistic::kStandardError, MomentDivisors::Of(2, 2), value));
  EXPECT_TRUE(moments.Value(Statistic::kL2Norm, MomentDivisors::Of(2, 2), value));
  for (const Statistic other : {Statistic::kL1Norm, Statistic::kMin, Statistic::kProduct}) {
    EXPECT_FALSE(BoundedMoments::Has(other));
    EXPECT_FALSE(moments.Value(other, MomentDivisors::Of(2, 0), value));
  }
  const uint64_t many = uint64_t{1} << 26;
  EXPECT_TRUE(moments.Value(Statistic::kSum, MomentDivisors::Of(many, 0), value));
  EXPECT_FALSE(moments.Value(Statistic::kSum, MomentDivisors::Of(many + 1, 0), value));
}

}  // namespace
}  // namespace gridfold::kernels
