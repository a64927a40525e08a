// Weights that fit a window are the same numbers, and those fit that it is made for.
#include "kernels/numerics/sums/weight_window.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

uint32_t BitsOf(float weight) { return std::bit_cast<uint32_t>(weight); }

// long double has 64 bits, and a number of a window at most 56.
long double ValueOf(const WindowNumber& number, const WeightWindow& window) {
  return std::ldexp(static_cast<long double>(number.value),
                    window.origin + static_cast<int>(number.word) * kWindowWordBits - 149);
}

TEST(WeightWindowTest, NumbersAreTheWeights) {
  std::mt19937_64 random(1);
  uint64_t fitting = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const uint32_t largest = static_cast<uint32_t>(random()) & 0x7F7F'FFFF;
    const uint32_t words = kWindowWordsMin + static_cast<uint32_t>(random() % 6);
    const WeightWindow window = WindowFor(largest, words);
    const uint32_t bits = static_cast<uint32_t>(random());
    const WindowNumber number = NumberInWindow(bits, window);
    if (!number.fits) continue;
    ++fitting;
    // With the rest, and what a sum of 2^23 needs above it.
    ASSERT_LT(number.word + 1, words);
    const float weight = std::bit_cast<float>(bits);
    ASSERT_EQ(ValueOf(number, window), static_cast<long double>(weight)) << weight;
    const long double end =
        std::ldexp(1.0L, window.origin + static_cast<int>(words) * kWindowWordBits - 149 - 1);
    ASSERT_LE(std::ldexp(static_cast<long double>(std::fabs(weight)), 23), end) << weight;
  }
  EXPECT_GT(fitting, 500'000);
}

TEST(WeightWindowTest, WeightsAroundTheLargestFit) {
  std::mt19937_64 random(2);
  for (uint32_t words = kWindowWordsMin; words <= kWindowWordsMax; ++words) {
    const int below = static_cast<int>(words) * 32 - 60;
    for (int exponent = -149; exponent < 128; ++exponent) {
      const float largest = std::ldexp(1.0F, exponent);
      const WeightWindow window = WindowFor(BitsOf(largest), words);
      for (int i = 0; i < 200; ++i) {
        const int own = exponent + 12 - static_cast<int>(random() % (below + 13));
        const float fraction = 1 + static_cast<float>(random() >> 41) * 0x1p-23F;
        // Below the least normal number places do not go down.
        const float weight = std::ldexp(fraction, std::max(own, -149));
        if (exponent < -126 && own > -126 + 12) continue;
        if (weight == kInfinity) continue;
        ASSERT_TRUE(NumberInWindow(BitsOf(weight), window).fits)
            << weight << ", largest " << largest << ", words " << words;
        ASSERT_TRUE(NumberInWindow(BitsOf(-weight), window).fits);
      }
    }
  }
}

TEST(WeightWindowTest, WeightsOfTheLargestMagnitudeDoNotCarryOften) {
  for (const float largest : {1.0F, 0.37F, 3e38F, 1e-30F}) {
    for (uint32_t words = kWindowWordsMin; words <= kWindowWordsMax; ++words) {
      const WindowNumber number =
          NumberInWindow(BitsOf(largest), WindowFor(BitsOf(largest), words));
      EXPECT_LT(number.value, int64_t{1} << 28);
    }
  }
}

TEST(WeightWindowTest, EveryUsualWeightFitsTheWidestWindow) {
  const WeightWindow window = WindowFor(BitsOf(0x1p60F), kWindowWordsMax);
  for (const float weight : {0x1p70F, 1.0F, 0x1p-126F, 0x1p-149F, 0.0F, -0.0F, -0x1p-149F}) {
    const WindowNumber number = NumberInWindow(BitsOf(weight), window);
    EXPECT_TRUE(number.fits) << weight;
    EXPECT_EQ(ValueOf(number, window), static_cast<long double>(weight));
  }
}

TEST(WeightWindowTest, WhatIsNoNumberDoesNotFit) {
  for (const uint32_t largest : {0x0000'0000u, 0x3F80'0000u, 0x7F7F'FFFFu}) {
    for (uint32_t words = kWindowWordsMin; words <= kWindowWordsMax; ++words) {
      const WeightWindow window = WindowFor(largest, words);
      for (const float weight : {kInfinity, -kInfinity, std::nanf(""), -std::nanf("")}) {
        EXPECT_FALSE(NumberInWindow(BitsOf(weight), window).fits);
      }
    }
  }
}

TEST(WeightWindowTest, ZerosFitAndOthersFarBelowDoNot) {
  const WeightWindow window = WindowFor(BitsOf(1.0F), kWindowWordsMin);
  for (const float zero : {0.0F, -0.0F}) {
    const WindowNumber number = NumberInWindow(BitsOf(zero), window);
    EXPECT_TRUE(number.fits);
    EXPECT_EQ(number.value, 0);
  }
  EXPECT_TRUE(NumberInWindow(BitsOf(0x1p-36F), window).fits);
  EXPECT_FALSE(NumberInWindow(BitsOf(0x1p-37F), window).fits);
  EXPECT_TRUE(NumberInWindow(BitsOf(0x1p12F), window).fits);
  EXPECT_FALSE(NumberInWindow(BitsOf(0x1p13F), window).fits);
}

// Numbers of doubles.

constexpr uint64_t kDoubleSignBit = uint64_t{1} << 63;

uint32_t UpperBitsOf(double weight) {
  return static_cast<uint32_t>((std::bit_cast<uint64_t>(weight) & ~kDoubleSignBit) >> 32);
}

bool Fits(double weight, const WeightWindow& window) {
  return DoubleHeightInWindow(std::bit_cast<uint64_t>(weight), window) <= window.place_max;
}

// The weight that its units say, which a long double has room for.
long double ValueOfDouble(double weight, const WeightWindow& window) {
  const uint64_t bits = std::bit_cast<uint64_t>(weight);
  const uint32_t height = DoubleHeightInWindow(bits, window);
  const WideUnits units = DoubleUnits(bits, height % kWindowWordBits);
  const int word_place = static_cast<int>(height / kWindowWordBits) * kWindowWordBits;
  return std::ldexp(static_cast<long double>(units.high) * 0x1p32L + units.low,
                    window.origin + word_place - 1074);
}

TEST(DoubleWindowTest, NumbersAreTheWeights) {
  std::mt19937_64 random(3);
  uint64_t fitting = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const uint32_t words = kDoubleWindowWordsMin + static_cast<uint32_t>(random() % 13);
    const uint32_t largest = static_cast<uint32_t>(random()) & 0x7FEF'FFFF;
    const WeightWindow window = DoubleWindowFor(largest, words);
    // A tenth subnormal, and some with few bits.
    uint64_t bits = random();
    if (i % 10 == 0) bits &= ~(uint64_t{0x7FF} << 52);
    if (i % 7 == 0) bits &= ~uint64_t{0} << (random() % 52);
    const double weight = std::bit_cast<double>(bits);
    if (!Fits(weight, window)) continue;
    ++fitting;
    const uint32_t height = DoubleHeightInWindow(bits, window);
    // With two rests, and what a sum of 2^23 needs above them.
    ASSERT_LT(height / kWindowWordBits + 2, words);
    ASSERT_EQ(ValueOfDouble(weight, window), static_cast<long double>(weight)) << weight;
    const long double end =
        std::ldexp(1.0L, window.origin + static_cast<int>(words) * kWindowWordBits - 1074 - 1);
    ASSERT_LE(std::ldexp(std::fabs(static_cast<long double>(weight)), 23), end) << weight;
  }
  EXPECT_GT(fitting, 100'000);
}

TEST(DoubleWindowTest, WeightsAroundTheLargestFitAndOthersDoNot) {
  for (uint32_t words = kDoubleWindowWordsMin; words <= kDoubleWindowWordsMax; ++words) {
    const int below = static_cast<int>(words) * 32 - 88;
    for (const double largest : {1.0, 0.37, 0x1p900, 0x1p-400}) {
      const WeightWindow window = DoubleWindowFor(UpperBitsOf(largest), words);
      EXPECT_TRUE(Fits(std::ldexp(largest, 11), window));
      EXPECT_FALSE(Fits(std::ldexp(largest, 12), window));
      EXPECT_TRUE(Fits(std::ldexp(-largest, -below), window));
      EXPECT_FALSE(Fits(std::ldexp(largest, -below - 1), window));
    }
  }
}

TEST(DoubleWindowTest, WeightsOfTheLargestMagnitudeDoNotCarryOften) {
  for (const double largest : {1.0, 0.37, 1e308, 1e-300}) {
    for (uint32_t words = kDoubleWindowWordsMin; words <= kDoubleWindowWordsMax; ++words) {
      const uint64_t bits = std::bit_cast<uint64_t>(largest);
      const WeightWindow window = DoubleWindowFor(UpperBitsOf(largest), words);
      const uint32_t shift = DoubleHeightInWindow(bits, window) % kWindowWordBits;
      EXPECT_LT(DoubleUnits(bits, shift).high, int64_t{1} << 29) << largest;
    }
  }
}

TEST(DoubleWindowTest, WhatIsNoNumberDoesNotFit) {
  for (const double largest : {0.0, 1.0, std::numeric_limits<double>::max()}) {
    for (uint32_t words = kDoubleWindowWordsMin; words <= kDoubleWindowWordsMax; ++words) {
      const WeightWindow window = DoubleWindowFor(UpperBitsOf(largest), words);
      constexpr double kInfinite = std::numeric_limits<double>::infinity();
      for (const double weight : {kInfinite, -kInfinite, std::nan(""), -std::nan("")}) {
        EXPECT_FALSE(Fits(weight, window));
      }
    }
  }
}

TEST(DoubleWindowTest, ZerosAreNoUnits) {
  for (const double zero : {0.0, -0.0}) {
    for (uint32_t shift = 0; shift < 32; ++shift) {
      const WideUnits units = DoubleUnits(std::bit_cast<uint64_t>(zero), shift);
      EXPECT_EQ(units.low, 0);
      EXPECT_EQ(units.high, 0);
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels
