#include "kernels/numerics/sums/exact_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/conformance/exact_sum.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A finite number with bits drawn from the whole range.
template <class F>
F AnyFinite(std::mt19937_64& random) {
  for (;;) {
    const F x = std::bit_cast<F>(static_cast<typename FloatFormat<F>::Bits>(random()));
    if (std::isfinite(x)) return x;
  }
}

template <class F>
std::vector<F> AnyFinites(std::mt19937_64& random, size_t count) {
  std::vector<F> values(count);
  for (F& x : values) x = AnyFinite<F>(random);
  return values;
}

template <class F>
ExactSum<F, 1> SumOf(const std::vector<F>& values) {
  ExactSum<F, 1> sum;
  for (const F x : values) sum.Add(x);
  return sum;
}

template <class F>
double ExpectedSum(const std::vector<F>& values) {
  conformance::ExactSum sum;
  for (const F x : values) sum.Add(x);
  return sum.Value().ToDouble();
}

uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }

template <class F>
class ExactSumTest : public testing::Test {};
using Formats = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactSumTest, Formats);

TYPED_TEST(ExactSumTest, MatchesTheOracleOnAnyBits) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto values = AnyFinites<TypeParam>(random, random() % 40 + 1);
    EXPECT_EQ(Bits(SumOf(values).Rounded()), Bits(ExpectedSum(values) + 0.0)) << round;
  }
}

TYPED_TEST(ExactSumTest, SquaresMatchTheOracleOnAnyBits) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto values = AnyFinites<TypeParam>(random, random() % 40 + 1);
    ExactSum<TypeParam, 2> sum;
    conformance::ExactSum expected;
    for (const TypeParam x : values) {
      sum.AddSquare(x);
      expected.AddSquare(x);
    }
    EXPECT_EQ(Bits(sum.Rounded()), Bits(expected.Value().ToDouble())) << round;
  }
}

// Splits values at random into parts, sums each by limbs or by digits in a random order, and merges
// the parts in a random order: 10^5 times in all.
TYPED_TEST(ExactSumTest, AnySplitOrderAndMergeGivesTheSameState) {
  using Sum = ExactSum<TypeParam, 1>;
  std::mt19937_64 random(3);
  for (int round = 0; round < 50'000; ++round) {
    auto values = AnyFinites<TypeParam>(random, random() % 12 + 1);
    const Sum expected = SumOf(values);
    std::shuffle(values.begin(), values.end(), random);
    std::vector<Sum> parts(random() % 4 + 1);
    std::vector<std::array<int64_t, Sum::kDigits>> digits(parts.size());
    for (const TypeParam x : values) {
      const size_t part = random() % parts.size();
      if (random() % 2 == 0) {
        parts[part].Add(x);
        continue;
      }
      const DecomposedFloat d = Decompose(x);
      parts[part].AddFlags(ExactSumFlagsOf(x));
      ForEachDigit<FloatFormat<TypeParam>::kPrecision>(
          d.significand, d.position, d.negative,
          [&](uint32_t digit, int64_t value) { digits[part][digit] += value; });
    }
    Sum merged;
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i].AddDigits([&](int digit) { return digits[i][digit]; });
    }
    std::shuffle(parts.begin(), parts.end(), random);
    while (parts.size() > 1) {
      const Sum last = parts.back();
      parts.pop_back();
      parts[random() % parts.size()].Merge(last);
    }
    merged.Merge(parts[0]);
    ASSERT_TRUE(merged == expected) << round;
  }
}

TYPED_TEST(ExactSumTest, PairsCancelToTheLastBit) {
  std::mt19937_64 random(4);
  using Limits = std::numeric_limits<TypeParam>;
  ExactSum<TypeParam, 1> sum;
  for (int i = 0; i < 1'000'000; ++i) {
    const TypeParam x = AnyFinite<TypeParam>(random);
    sum.Add(x);
    sum.Add(-x);
  }
  EXPECT_EQ(Bits(sum.Rounded()), Bits(0.0));
  sum.Add(Limits::denorm_min());
  EXPECT_EQ(sum.Rounded(), static_cast<double>(Limits::denorm_min()));
}

TYPED_TEST(ExactSumTest, AnIntermediateSumPastTheLargestNumberComesBack) {
  using Limits = std::numeric_limits<TypeParam>;
  ExactSum<TypeParam, 1> sum;
  for (int i = 0; i < 1000; ++i) sum.Add(Limits::max());
  sum.Add(TypeParam{1});
  for (int i = 0; i < 1000; ++i) sum.Add(-Limits::max());
  EXPECT_EQ(sum.Rounded(), 1);
}

TYPED_TEST(ExactSumTest, NegativeZeros) {
  ExactSum<TypeParam, 1> sum;
  EXPECT_EQ(Bits(sum.Rounded()), Bits(-0.0));
  sum.Add(TypeParam{-0.0});
  EXPECT_EQ(Bits(sum.Rounded()), Bits(-0.0));
  sum.Add(TypeParam{0.0});
  EXPECT_EQ(Bits(sum.Rounded()), Bits(0.0));
}

TYPED_TEST(ExactSumTest, InfinitiesAndNan) {
  using Sum = ExactSum<TypeParam, 1>;
  const auto infinity = static_cast<TypeParam>(kInfinity);
  const auto nan = static_cast<TypeParam>(kNan);
  const auto of = [](std::vector<TypeParam> values) { return SumOf(values); };
  EXPECT_EQ(of({1, infinity, 2}).Rounded(), kInfinity);
  EXPECT_EQ(of({-infinity, 2}).Rounded(), -kInfinity);
  EXPECT_TRUE(std::isnan(of({infinity, 1, -infinity}).Rounded()));
  EXPECT_TRUE(std::isnan(of({nan, 1}).Rounded()));
  // The same state, whatever finite numbers came along and when.
  EXPECT_TRUE(of({1, infinity, 5}) == of({infinity}));
  Sum merged = of({3});
  merged.Merge(of({infinity}));
  EXPECT_TRUE(merged == of({infinity}));
  EXPECT_TRUE(of({infinity, -infinity}) == of({nan}));
}

TEST(ExactSumTest, TiesGoToEven) {
  const double one = 1;
  const double half_unit = 0x1p-53;
  EXPECT_EQ(SumOf<double>({one, half_unit}).Rounded(), one);
  EXPECT_EQ(SumOf<double>({one + 0x1p-52, half_unit}).Rounded(), one + 0x1p-51);
  EXPECT_EQ(SumOf<double>({one, half_unit, 0x1p-1074}).Rounded(), one + 0x1p-52);
  EXPECT_EQ(SumOf<double>({-one, -half_unit, 0x1p-1074}).Rounded(), -one);
}

TEST(ExactSumTest, RoundsToInfinityOnlyPastHalfAUnitAboveTheLargest) {
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(SumOf<double>({largest, 0x1p969}).Rounded(), largest);
  EXPECT_EQ(SumOf<double>({largest, 0x1p970}).Rounded(), kInfinity);
  EXPECT_EQ(SumOf<double>({largest, 0x1p970, -0x1p-1074}).Rounded(), largest);
}

// Numerators of up to 40 limbs, divisors of every size, against the oracle's quotient.
TEST(ExactQuotientTest, MatchesTheOracle) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint64_t> limbs(random() % 5 + 1);
    Dyadic number = Dyadic::FromDouble(0);
    const int exponent = static_cast<int>(random() % 200) - 100;
    for (size_t i = 0; i < limbs.size(); ++i) {
      limbs[i] = random() % 3 == 0 ? 0 : random() >> (random() % 64);
    }
    const uint64_t divisor = (random() >> (random() % 64)) | 1;
    const uint64_t second = random() % 2 == 0 ? 1 : (random() >> (random() % 64)) | 1;
    const LeadingBits quotient =
        LeadingQuotient(LimbMagnitude::OfUnsigned(limbs.data(), static_cast<int>(limbs.size())),
                        exponent, divisor, second);
    const auto multiply = [](std::vector<uint64_t>& x, uint64_t factor) {
      std::vector<uint64_t> product(x.size() + 1, 0);
      Multiply(LimbMagnitude::OfUnsigned(x.data(), static_cast<int>(x.size())), factor,
               product.data());
      std::copy_n(product.begin(), x.size(), x.begin());
    };
    // bits * d1 * d2 <= number < (bits + 1) * d1 * d2, with equality where there is no fraction.
    const auto times = [&](Uint128 bits) {
      std::vector<uint64_t> product = {
          static_cast<uint64_t>(bits), static_cast<uint64_t>(bits >> 64), 0, 0, 0, 0, 0, 0, 0, 0};
      multiply(product, divisor);
      multiply(product, second);
      return product;
    };
    // Both sides in units of 2^(smaller exponent).
    std::vector<uint64_t> left(12, 0);
    const int scale = exponent - quotient.exponent;
    std::copy(limbs.begin(), limbs.end(), left.begin());
    std::vector<uint64_t> low = times(quotient.bits);
    low.resize(12);
    const auto shift_left = [](std::vector<uint64_t>& x, int bits) {
      for (int i = 0; i < bits; ++i) AddLimbs(x.data(), std::vector(x).data(), 12);
    };
    shift_left(scale > 0 ? left : low, std::abs(scale));
    std::vector<uint64_t> unit(12, 0);
    unit[0] = 1;
    multiply(unit, divisor);
    multiply(unit, second);
    if (scale < 0) shift_left(unit, -scale);
    const auto less = [](const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
      return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
    };
    ASSERT_FALSE(less(left, low)) << round;
    ASSERT_EQ(quotient.has_fraction, less(low, left)) << round;
    std::vector<uint64_t> next = low;
    AddLimbs(next.data(), unit.data(), 12);
    ASSERT_TRUE(less(left, next)) << round;
  }
}

TEST(ExactQuotientTest, SquareRootFloorIsTheFloor) {
  std::mt19937_64 random(6);
  const auto check = [](Uint128 x) {
    const Uint128 root = SquareRootFloor(x);
    ASSERT_LE(root * root, x);
    if (root != ~uint64_t{0}) {
      ASSERT_GT((root + 1) * (root + 1), x);
    }
  };
  for (int round = 0; round < 100'000; ++round) {
    const Uint128 x = ((Uint128{random()} << 64) | random()) >> (random() % 128);
    check(x);
    const uint64_t root = random() >> (random() % 64);
    check(Uint128{root} * root);
    if (root > 0) check(Uint128{root} * root - 1);
  }
  check(~Uint128{0});
}

TEST(ExactQuotientTest, RoundsLargeResultsToInfinity) {
  const uint64_t largest = 0x1F'FFFF'FFFF'FFFF;  // 53 bits.
  const auto round = [&](Uint128 bits, int exponent, bool has_fraction) {
    return RoundToDouble({bits, exponent, has_fraction});
  };
  EXPECT_EQ(round(largest, 971, false), std::numeric_limits<double>::max());
  EXPECT_EQ(round(largest, 972, false), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round(1, 1023, false), 0x1p1023);
  EXPECT_EQ(round(1, 1024, false), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round(Uint128{largest} << 11 | 0x3FF, 960, true), std::numeric_limits<double>::max());
  EXPECT_EQ(round(Uint128{largest} << 11 | 0x400, 960, false),
            std::numeric_limits<double>::infinity());
}

TEST(ExactQuotientTest, RoundsSubnormalResultsOnce) {
  const uint64_t three = 3;
  const auto round = [&](int exponent, uint64_t divisor) {
    return RoundToDouble(LeadingQuotient(LimbMagnitude::OfUnsigned(&three, 1), exponent, divisor));
  };
  EXPECT_EQ(round(-1074, 1), 3 * 0x1p-1074);
  EXPECT_EQ(round(-1074, 2), 2 * 0x1p-1074);  // 1.5 ties to 2.
  EXPECT_EQ(round(-1074, 6), 0);              // 0.5 ties to 0.
  EXPECT_EQ(round(-1074, 5), 0x1p-1074);      // 0.6
  EXPECT_EQ(round(-1200, 1), 0);
}

}  // namespace
}  // namespace gridfold::kernels
