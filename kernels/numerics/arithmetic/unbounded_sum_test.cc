#include "kernels/numerics/arithmetic/unbounded_sum.h"

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

constexpr double kLargest = std::numeric_limits<double>::max();

UnboundedSum SumOf(const std::vector<double>& summands) {
  UnboundedSum sum;
  for (const double x : summands) sum = sum.Plus(UnboundedSum::Of(x));
  return sum;
}

TEST(UnboundedSumTest, PartsMayPassTheLargestNumber) {
  EXPECT_EQ(SumOf({kLargest, kLargest, -kLargest}).Rounded(), kLargest);
  EXPECT_EQ(SumOf({-kLargest, -kLargest, kLargest, kLargest, 0x1p-1074}).Rounded(), 0x1p-1074);
  EXPECT_EQ(SumOf({kLargest, kLargest}).Rounded(), HUGE_VAL);
  EXPECT_EQ(SumOf(std::vector<double>(100'000, -kLargest)).Rounded(), -HUGE_VAL);
  EXPECT_TRUE(std::signbit(SumOf({-0.0, -0.0}).Rounded()));
}

TEST(UnboundedSumTest, OnlySummandsAreInfiniteOrNan) {
  EXPECT_EQ(SumOf({kLargest, kLargest, -HUGE_VAL}).Rounded(), -HUGE_VAL);
  EXPECT_EQ(SumOf({HUGE_VAL, -kLargest, -kLargest, -kLargest}).Rounded(), HUGE_VAL);
  EXPECT_TRUE(std::isnan(SumOf({HUGE_VAL, -HUGE_VAL, 1}).Rounded()));
  EXPECT_TRUE(std::isnan(SumOf({kLargest, kLargest, std::nan("")}).Rounded()));
}

// Of all magnitudes, most of them near the largest: those of the oracle's numbers without bounds.
TEST(UnboundedSumTest, EachAdditionRoundsAsFloat64Does) {
  std::mt19937_64 random(41);
  const conformance::FloatOperation addition{.is_product = false};
  for (int run = 0; run < 20'000; ++run) {
    UnboundedSum sum;
    conformance::UnboundedFloat expected = addition.Identity();
    for (uint64_t left = random() % 20; left > 0; --left) {
      const double fraction = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
      const int exponent =
          static_cast<int>(random() % 4 == 0 ? random() % 2098 - 1074 : 1023 - random() % 60);
      const double x = std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent);
      sum = sum.Plus(UnboundedSum::Of(x));
      expected = addition.Join(expected, conformance::UnboundedFloat::Of(x));
      ASSERT_EQ(std::bit_cast<uint64_t>(sum.Rounded()), std::bit_cast<uint64_t>(expected.Rounded()))
          << sum.Rounded() << " is not " << expected.Rounded();
    }
  }
}

TEST(SumsMayPassTheLargestTest, IsSaidOfLargeNumbersOnly) {
  EXPECT_TRUE(SumsMayPassTheLargest(kLargest, 1));
  EXPECT_TRUE(SumsMayPassTheLargest(0x1p1022, 2));
  EXPECT_FALSE(SumsMayPassTheLargest(0x1p1021, 2));
  EXPECT_FALSE(SumsMayPassTheLargest(1e290, uint64_t{1} << 32));
  EXPECT_FALSE(SumsMayPassTheLargest(0, 0));
}

}  // namespace
}  // namespace gridfold::kernels
