#include "kernels/numerics/compensated_sum.h"

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
using conformance::ExactSum;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double RandomDouble(std::mt19937_64& random, int exponent_range) {
  const double fraction = std::bit_cast<double>(random() >> 12 | 0x3FF0'0000'0000'0000u);
  const int exponent = static_cast<int>(random() % (2 * exponent_range + 1)) - exponent_range;
  return std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent);
}

DoubleDouble RandomDoubleDouble(std::mt19937_64& random) {
  const double high = RandomDouble(random, 40);
  return TwoSum(high, high * std::ldexp(RandomDouble(random, 0), -54));
}

Dyadic Exact(double x) { return Dyadic::FromDouble(x); }
Dyadic Exact(DoubleDouble x) { return Exact(x.high).Plus(Exact(x.low)); }

// How far `result` is from `exact`, in units of 2^-106 of `scale`.
double ErrorIn106Bits(DoubleDouble result, const Dyadic& exact, const Dyadic& scale) {
  const double error = std::fabs(Exact(result).Minus(exact).ToDouble());
  if (error == 0) return 0;
  return error / std::ldexp(std::fabs(scale.ToDouble()), -106);
}

TEST(TwoSumTest, SumAndErrorAreTheExactSum) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 50'000; ++i) {
    const double a = RandomDouble(random, 80);
    const double b = i % 5 == 0 ? -a * (1 + std::ldexp(1.0, -40)) : RandomDouble(random, 80);
    const DoubleDouble sum = TwoSum(a, b);
    ASSERT_EQ(sum.high, a + b);
    ASSERT_EQ(Exact(sum), Exact(a).Plus(Exact(b))) << a << " + " << b;
  }
}

TEST(TwoProductTest, ProductAndErrorAreTheExactProduct) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50'000; ++i) {
    const double a = RandomDouble(random, 200);
    const double b = RandomDouble(random, 200);
    const DoubleDouble product = TwoProduct(a, b);
    ASSERT_EQ(product.high, a * b);
    ASSERT_EQ(Exact(product), Exact(a).Times(Exact(b))) << a << " * " << b;
  }
}

TEST(DoubleDoubleTest, ArithmeticIsGoodToAFewUnitsOf106Bits) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 20'000; ++i) {
    const DoubleDouble a = RandomDoubleDouble(random);
    const DoubleDouble b = RandomDoubleDouble(random);
    const double d = RandomDouble(random, 40);
    const Dyadic sum = Exact(a).Plus(Exact(b));
    ASSERT_LE(ErrorIn106Bits(Add(a, b), sum, sum), 8);
    const Dyadic product = Exact(a).Times(Exact(b));
    ASSERT_LE(ErrorIn106Bits(Multiply(a, b), product, product), 16);
    // The quotient itself need not be representable: compare quotient * d with a.
    const DoubleDouble quotient = Divide(a, d);
    const double back = Exact(quotient).Times(Exact(d)).Minus(Exact(a)).ToDouble();
    ASSERT_LE(std::fabs(back), std::ldexp(std::fabs(a.high), -102));
  }
}

TEST(DoubleDoubleTest, NegateIsExact) {
  const DoubleDouble x = TwoSum(1.0, 0x1p-70);
  EXPECT_EQ(Exact(Negate(x)).Plus(Exact(x)).Sign(), 0);
}

// Sums `addends` in one go and in merged pieces, and expects the correctly rounded sum from each.
void ExpectRoundedSum(const std::vector<double>& addends, size_t pieces) {
  ExactSum exact;
  for (const double x : addends) exact.Add(x);
  CompensatedSum whole;
  std::vector<CompensatedSum> parts(pieces);
  for (size_t i = 0; i < addends.size(); ++i) {
    whole.Add(addends[i]);
    parts[i % pieces].Add(addends[i]);
  }
  CompensatedSum merged;
  for (const CompensatedSum& part : parts) merged.Merge(part);
  EXPECT_EQ(whole.Rounded(), exact.Value().ToDouble());
  EXPECT_EQ(merged.Rounded(), exact.Value().ToDouble());
}

TEST(CompensatedSumTest, RandomAddendsGiveTheCorrectlyRoundedSum) {
  std::mt19937_64 random(9);
  for (const int exponent_range : {0, 10, 60}) {
    for (const size_t count : {1, 2, 3, 100, 10'000}) {
      std::vector<double> addends(count);
      for (double& x : addends) x = RandomDouble(random, exponent_range);
      ExpectRoundedSum(addends, 7);
    }
  }
}

TEST(CompensatedSumTest, CancellationLosesNothing) {
  ExpectRoundedSum({1, 1e16, -1e16}, 2);
  ExpectRoundedSum({1e16, 1, -1e16, 1, 1e-3}, 3);
  ExpectRoundedSum({1e30, 1e14, -1e30, 3, -1e14}, 2);
  std::vector<double> addends;
  std::mt19937_64 random(10);
  for (int i = 0; i < 1000; ++i) {
    const double x = RandomDouble(random, 10);
    addends.insert(addends.end(), {x, std::ldexp(1.0, -30), -x});
  }
  ExpectRoundedSum(addends, 5);
}

TEST(CompensatedSumTest, DenormalsAreSummedExactly) {
  ExpectRoundedSum(std::vector<double>(1001, std::numeric_limits<double>::denorm_min()), 3);
  ExpectRoundedSum({std::numeric_limits<double>::min(), -std::numeric_limits<double>::denorm_min()},
                   2);
}

TEST(CompensatedSumTest, SquaresAreAddedUnrounded) {
  std::mt19937_64 random(11);
  CompensatedSum sum;
  ExactSum exact;
  for (int i = 0; i < 10'000; ++i) {
    const double x = RandomDouble(random, 20);
    sum.AddSquare(x);
    exact.AddSquare(x);
  }
  const Dyadic expected = exact.Value();
  EXPECT_EQ(sum.Rounded(), expected.ToDouble());
  EXPECT_LE(ErrorIn106Bits(sum.Value(), expected, expected), 1 << 16);
}

TEST(CompensatedSumTest, SignOfZero) {
  EXPECT_TRUE(std::signbit(CompensatedSum{}.Rounded()));
  CompensatedSum negative_zeros;
  negative_zeros.Add(-0.0);
  negative_zeros.Merge(CompensatedSum{});
  negative_zeros.Add(-0.0);
  EXPECT_TRUE(std::signbit(negative_zeros.Rounded()));
  for (const std::vector<double>& addends :
       {std::vector<double>{0.0, -0.0}, {-0.0, 0.0}, {1.5, -1.5}, {-1.5, 1.5}}) {
    CompensatedSum sum;
    for (const double x : addends) sum.Add(x);
    EXPECT_EQ(sum.Rounded(), 0);
    EXPECT_FALSE(std::signbit(sum.Rounded()));
  }
}

TEST(CompensatedSumTest, InfinitiesAndNan) {
  const auto sum_of = [](const std::vector<double>& addends) {
    CompensatedSum sum;
    for (const double x : addends) sum.Add(x);
    return sum;
  };
  EXPECT_EQ(sum_of({1, kInfinity, -5}).Rounded(), kInfinity);
  EXPECT_EQ(sum_of({1, -kInfinity, -5}).Value().high, -kInfinity);
  EXPECT_TRUE(std::isnan(sum_of({kInfinity, 1, -kInfinity}).Rounded()));
  EXPECT_TRUE(std::isnan(sum_of({1, kNan, 2}).Rounded()));
  CompensatedSum merged = sum_of({kInfinity});
  merged.Merge(sum_of({2, 3}));
  EXPECT_EQ(merged.Rounded(), kInfinity);
  merged.Merge(sum_of({-kInfinity}));
  EXPECT_TRUE(std::isnan(merged.Rounded()));
}

TEST(CompensatedSumTest, SquareThatOverflowsIsInfinite) {
  CompensatedSum sum;
  sum.AddSquare(1e200);
  sum.AddSquare(1);
  EXPECT_EQ(sum.Value().high, kInfinity);
}

}  // namespace
}  // namespace gridfold::kernels
