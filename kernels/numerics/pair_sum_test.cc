#include "kernels/numerics/pair_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/conformance/exact_sum.h"

namespace gridfold::kernels {
namespace {

double Expected(const std::vector<float>& values) {
  conformance::ExactSum sum;
  for (const float x : values) sum.Add(x);
  return sum.Value().ToDouble();
}

// Floats of any sign with exponents of `binades`, around 1.
std::vector<float> Floats(std::mt19937_64& random, size_t count, int binades) {
  std::vector<float> values(count);
  for (float& x : values) {
    const float fraction = 1 + std::ldexp(static_cast<float>(random() >> 41), -23);
    const int exponent = static_cast<int>(random() % static_cast<uint64_t>(binades)) - binades / 2;
    x = std::ldexp((random() & 1) == 0 ? fraction : -fraction, exponent);
  }
  return values;
}

// As warps do: every lane a part, the parts merged by halves.
PairSum SumOfParts(const std::vector<float>& values, size_t parts) {
  std::vector<PairSum> pairs(parts);
  for (size_t i = 0; i < values.size(); ++i) pairs[i % parts].Add(values[i]);
  for (size_t half = parts / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) pairs[i].Merge(pairs[i + half]);
  }
  return pairs[0];
}

TEST(PairSumTest, IsExactForAsManyBinadesAsItHolds) {
  std::mt19937_64 random(20261122);
  for (const uint64_t count : {1, 2, 31, 512, 16'384}) {
    for (const size_t parts : {1, 32}) {
      const uint64_t chain = (count + parts - 1) / parts + std::bit_width(parts - 1);
      int binades = 1;
      while (PairHolds(24 + binades, count, chain)) ++binades;
      for (int repeat = 0; repeat < 50; ++repeat) {
        const std::vector<float> values = Floats(random, count, binades);
        const double expected = Expected(values);
        const PairSum sum = SumOfParts(values, parts);
        ASSERT_EQ(sum.Rounded().high, expected) << count << " in " << parts;
        ASSERT_EQ(ExactSumOf(sum).Rounded(), expected) << count << " in " << parts;
      }
    }
  }
}

TEST(PairSumTest, MeansAreOfTheExactSum) {
  std::mt19937_64 random(7);
  int with_rest = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::vector<float> values = Floats(random, 10'000, 40);
    const PairSum sum = SumOfParts(values, 32);
    with_rest += sum.Rounded().low != 0 ? 1 : 0;
    ExactSum<float, 1> expected;
    for (const float x : values) expected.Add(x);
    ASSERT_EQ(ExactSumOf(sum).Quotient(values.size()), expected.Quotient(values.size()));
    ASSERT_TRUE(ExactSumOf(sum) == expected);
  }
  EXPECT_GT(with_rest, 100);
}

TEST(PairSumTest, HoldsTheSmallestAndTheLargestFloats) {
  for (const std::vector<float>& values : {std::vector<float>{0x1p-149f},
                                           {0x1p-149f, -0x1p-126f, 0x1p-140f},
                                           {0x1.fffffep127f},
                                           {0x1.fffffep127f, 0x1.fffffep127f, -0x1p100f},
                                           {1.0f, -1.0f}}) {
    ExactSum<float, 1> expected;
    PairSum sum;
    for (const float x : values) {
      expected.Add(x);
      sum.Add(x);
    }
    EXPECT_TRUE(ExactSumOf(sum) == expected);
    EXPECT_EQ(sum.Rounded().high, expected.Rounded());
  }
}

TEST(PairSumTest, ZeroIsNegativeOnlyOfNegativeZeros) {
  PairSum sum;
  for (int i = 0; i < 5; ++i) sum.Add(-0.0);
  PairSum merged = sum;
  merged.Merge(sum);
  EXPECT_TRUE(std::signbit(merged.Rounded().high));
  EXPECT_EQ(ExactSumOf(merged).flags(), 0u);
  merged.Add(0.0);
  EXPECT_FALSE(std::signbit(merged.Rounded().high));
  sum.Add(3);
  sum.Add(-3);
  EXPECT_FALSE(std::signbit(sum.Rounded().high));
  EXPECT_EQ(ExactSumOf(sum).flags(), kSawOtherThanNegativeZero);
}

}  // namespace
}  // namespace gridfold::kernels
