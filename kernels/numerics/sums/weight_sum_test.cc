#include "kernels/numerics/sums/weight_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/conformance/dyadic.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

TEST(WeightSumTest, IntegersAreRoundedToTheNearest) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const Uint128 bits = (Uint128{random()} << 64) | random();
    const Int128 sum = static_cast<Int128>(bits) >> (i % 128);
    ASSERT_EQ(RoundedWeightSum(sum), Dyadic::FromInteger(sum).ToDouble());
  }
}

TEST(WeightSumTest, HalvesAreRoundedToEven) {
  for (const int64_t sign : {-1, 1}) {
    for (int shift = 0; shift < 70; ++shift) {
      for (int64_t last = 0; last < 8; ++last) {
        const Int128 sum = (Int128{1} << (54 + shift)) + (Int128{last} << shift);
        for (const Int128 beside : {-1, 0, 1}) {
          const Int128 x = sign * (sum + beside);
          ASSERT_EQ(RoundedWeightSum(x), Dyadic::FromInteger(x).ToDouble());
        }
      }
    }
  }
}

TEST(WeightSumTest, TheEndsOf128Bits) {
  const Int128 least = static_cast<Int128>(Uint128{1} << 127);
  EXPECT_EQ(RoundedWeightSum(least), -0x1p127);
  EXPECT_EQ(RoundedWeightSum(static_cast<Int128>(~static_cast<Uint128>(least))), 0x1p127);
}

TEST(WeightSumTest, ZeroIsPositive) {
  WeightSum<float> none;
  WeightSum<double> negative_zeros;
  negative_zeros.Add(-0.0);
  WeightSum<double> cancelled;
  cancelled.Add(-1.5);
  cancelled.Add(1.5);
  for (const double zero : {RoundedWeightSum(none), RoundedWeightSum(negative_zeros),
                            RoundedWeightSum(cancelled), RoundedWeightSum(Int128{0})}) {
    EXPECT_EQ(zero, 0);
    EXPECT_FALSE(std::signbit(zero));
  }
}

}  // namespace
}  // namespace gridfold::kernels
