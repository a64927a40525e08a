#include "kernels/numerics/sums/pair_sum.h"

#include <algorithm>
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

// Numbers whose exponents differ by up to `binades`, some of which are the others' opposites.
std::vector<double> Doubles(std::mt19937_64& random, size_t count, int binades) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const int exponent = static_cast<int>(random() % static_cast<uint64_t>(binades)) - binades / 2;
    // Few bits as often as all: then sums are in the middle of two numbers.
    const int bits = random() % 2 == 0 ? 3 : 53;
    const double fraction = std::ldexp(static_cast<double>(random() >> (64 - bits)), -bits);
    values[i] = std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent);
    if (i > 0 && random() % 4 == 0) values[i] = -values[i - 1];
  }
  return values;
}

TEST(CheckedPairTest, WhatIsCertainIsTheRoundedSumAndMean) {
  std::mt19937_64 random(20261123);
  for (const int binades : {2, 20, 60, 120, 1500}) {
    int certain = 0;
    constexpr int kRepeats = 3000;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const std::vector<double> values = Doubles(random, 1 + random() % 12, binades);
      ExactSum<double, 1> expected;
      CheckedPair halves[2];
      for (size_t i = 0; i < values.size(); ++i) {
        expected.Add(values[i]);
        halves[i % 2].Add(values[i]);
      }
      CheckedPair sum = halves[0];
      sum.Merge(halves[1]);
      double value;
      const bool is_certain = sum.Round(sum.Error(), value);
      if (is_certain) {
        ASSERT_EQ(value, expected.Rounded()) << binades << " binades";
      }
      if (MeanDivisor(values.size()).Divide(sum.pair(), value, sum.Error())) {
        ASSERT_EQ(value, expected.Quotient(values.size())) << binades << " binades";
      }
      if (sum.IsExact()) {
        ASSERT_TRUE(ExactSumOf<double>(sum.pair()) == expected);
      }
      certain += is_certain ? 1 : 0;
    }
    EXPECT_GT(certain, kRepeats / 2) << binades << " binades";
  }
}

TEST(CheckedPairTest, NothingIsCertainWhereASumIsNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& values :
       std::vector<std::vector<double>>{{kInfinity},
                                        {1, -kInfinity},
                                        {std::nan(""), 1},
                                        {0x1.8p1023, 0x1.8p1023, -0x1.8p1023}}) {
    CheckedPair sum;
    for (const double x : values) sum.Add(x);
    double value;
    EXPECT_FALSE(sum.IsExact());
    EXPECT_FALSE(sum.Round(sum.Error(), value));
    EXPECT_FALSE(MeanDivisor(values.size()).Divide(sum.pair(), value, sum.Error()));
  }
}

}  // namespace
}  // namespace gridfold::kernels
