#include "kernels/numerics/arithmetic/scaled_product.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/float_trees.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = 0x1p-1074;  // The smallest subnormal number.

// Any bits: normal and subnormal numbers, and now and then a number that is none.
double AnyDouble(std::mt19937_64& random) {
  const uint64_t bits = random();
  switch (random() % 16) {
    case 0: return std::bit_cast<double>(bits & 0x800F'FFFF'FFFF'FFFFu);  // Subnormal or 0.
    case 1: return std::ldexp(1.0, static_cast<int>(bits % 2098) - 1074);
    default: return std::bit_cast<double>(bits);
  }
}

ScaledProduct ProductOf(const std::vector<double>& factors) {
  ScaledProduct product;
  for (const double x : factors) product = product.Times(ScaledProduct::Of(x));
  return product;
}

void ExpectSame(double actual, double expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << actual;
  } else {
    EXPECT_EQ(std::bit_cast<uint64_t>(actual), std::bit_cast<uint64_t>(expected))
        << actual << " is not " << expected;
  }
}

TEST(ScaledProductTest, PartsMayLeaveTheRange) {
  EXPECT_EQ(ProductOf({1e200, 1e200, 1e-200, 1e-200}).Rounded(), 1.0);
  EXPECT_EQ(ProductOf({0, 1e200, 1e200, 1e200}).Rounded(), 0.0);
  EXPECT_EQ(ProductOf({1e-300, 1e200, 1e200, 1e200}).Rounded(), 1e300);
  EXPECT_EQ(ProductOf({1e200, -1e200}).Rounded(), -kInfinity);
  EXPECT_EQ(ProductOf({kLeast, 0x1p1000, 0x1p74}).Rounded(), 1.0);
  std::vector<double> factors(4000, 1.5);
  factors.push_back(0);
  EXPECT_EQ(ProductOf(factors).Rounded(), 0.0);
}

TEST(ScaledProductTest, OnlyAnInfinityTimesZeroMakesNan) {
  EXPECT_TRUE(std::isnan(ProductOf({kInfinity, 0}).Rounded()));
  EXPECT_TRUE(std::isnan(ProductOf({0, 1e200, -kInfinity}).Rounded()));
  EXPECT_EQ(ProductOf({kInfinity, -1e-200, 1e-200}).Rounded(), -kInfinity);
  EXPECT_TRUE(std::isnan(ProductOf({std::nan(""), 0}).Rounded()));
  EXPECT_TRUE(std::signbit(ProductOf({-0.0, 1e200, 1e200}).Rounded()));
  EXPECT_FALSE(std::signbit(ProductOf({-0.0, -1e200, 1e200}).Rounded()));
}

TEST(ScaledProductTest, NumbersInRangeHaveTheBitsOfPlainMultiplication) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 200'000; ++i) {
    const double a = AnyDouble(random);
    const double b = AnyDouble(random);
    const double plain = a * b;
    if (std::fabs(plain) < std::numeric_limits<double>::min() && plain != 0) continue;
    ExpectSame(ProductOf({a, b}).Rounded(), plain);
  }
}

// By frexp and ldexp, in a form that is always normalised.
TEST(ScaledProductTest, ManyFactorsOfAllExponentsAreThoseOfUnboundedFloats) {
  std::mt19937_64 random(32);
  for (int run = 0; run < 20'000; ++run) {
    ScaledProduct product;
    auto expected = conformance::UnboundedFloat::Of(1);
    for (uint64_t left = random() % 12; left > 0; --left) {
      const double x = AnyDouble(random);
      product = product.Times(ScaledProduct::Of(x));
      expected = expected.Times(conformance::UnboundedFloat::Of(x));
      ExpectSame(product.Rounded(), expected.Rounded());
      ExpectSame(product.Normalised().Rounded(), expected.Rounded());
      ExpectSame(product.Normalised().Scaled(), expected.Rounded());
    }
  }
}

TEST(ScaledProductTest, SubnormalResultsAreRoundedInOneStep) {
  // Halves of the smallest number go to the even neighbour; a little more goes up.
  EXPECT_EQ((ScaledProduct{1.0, -1075}).Rounded(), 0.0);
  EXPECT_EQ((ScaledProduct{1 + 0x1p-52, -1075}).Rounded(), kLeast);
  EXPECT_EQ((ScaledProduct{1.5, -1074}).Rounded(), 2 * kLeast);
  EXPECT_EQ((ScaledProduct{1.25, -1073}).Rounded(), 2 * kLeast);
  EXPECT_EQ((ScaledProduct{-1.0, -5000}).Rounded(), 0.0);
  EXPECT_TRUE(std::signbit((ScaledProduct{-1.0, -5000}).Rounded()));
  EXPECT_EQ((ScaledProduct{1.0, int64_t{-1} << 43}).Rounded(), 0.0);
  EXPECT_EQ((ScaledProduct{-1.0, int64_t{1} << 43}).Rounded(), -kInfinity);
  EXPECT_EQ((ScaledProduct{2 - 0x1p-52, 1023}).Rounded(), std::numeric_limits<double>::max());
}

TEST(ScaledProductTest, PlainNumbersServeUnlessResultsAreNearTheEnds) {
  std::mt19937_64 random(33);
  for (int run = 0; run < 200'000; ++run) {
    const auto exponent_of = [&](uint64_t count) { return static_cast<int64_t>(random() % count); };
    const double fraction = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const ScaledProduct base{random() % 2 == 0 ? fraction : -fraction, exponent_of(5000) - 2500};
    const double factor = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52,
                                     static_cast<int>(exponent_of(1024)) - 511);
    ASSERT_FALSE(IsOutsideWindow(WindowBits(factor)));
    if (!base.ServesPlain()) continue;
    ExpectSame(base.Scaled() * factor, base.Times(ScaledProduct::Of(factor)).Rounded());
  }
}

TEST(WindowBitsTest, TellWhetherAnyProductWasOutside) {
  for (const double inside : {0x1p-511, -1.0, 1e100, 0x1.fffffffffffffp512}) {
    EXPECT_FALSE(IsOutsideWindow(WindowBits(inside) | WindowBits(1.0))) << inside;
  }
  for (const double outside :
       {0.0, -0.0, kLeast, 0x1.fffffffffffffp-512, 0x1p513, kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_TRUE(IsOutsideWindow(WindowBits(1.0) | WindowBits(outside))) << outside;
  }
}

TEST(RunningWindowTest, ItsEnds) {
  for (const double x : {1.0, 0x1p510, 0x1p-510, -0x1p510, -0x1p-510}) {
    EXPECT_TRUE(IsInRunningWindow(x)) << x;
  }
  const double above = std::nextafter(0x1p510, kInfinity);
  const double below = std::nextafter(0x1p-510, 0.0);
  for (const double x :
       {above, -above, below, -below, 0.0, -0.0, kInfinity, -kInfinity, kLeast, std::nan("")}) {
    EXPECT_FALSE(IsInRunningWindow(x)) << x;
  }
  // A part between its ends is a normal number, whatever was rounded.
  EXPECT_GE(0x1p-510 / 0x1p510, 4 * std::numeric_limits<double>::min());
}

}  // namespace
}  // namespace gridfold::kernels
