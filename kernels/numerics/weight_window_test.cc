// Weights that a window takes are the same numbers, and it takes those that it is made for.
#include "kernels/numerics/weight_window.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

// In units of a window that is `lower` bits further down.
void ExpectSame(float weight, const WeightWindow& window, int lower, bool* is_exact = nullptr) {
  const WindowNumber number = NumberInWindow(weight, std::ldexp(window.scale, lower));
  if (is_exact != nullptr) *is_exact = number.is_exact;
  if (!number.is_exact) return;
  const __int128 units = static_cast<__int128>(number.high) * (__int128{1} << 32) + number.low;
  ASSERT_LE(units < 0 ? -units : units, __int128{1} << kWindowNumberBits);
  const long double value =
      std::ldexp(static_cast<long double>(units), static_cast<int>(window.position) - lower - 149);
  ASSERT_EQ(value, static_cast<long double>(weight)) << weight;
}

TEST(WeightWindowTest, NumbersAreTheWeights) {
  std::mt19937_64 random(1);
  uint64_t exact = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const uint32_t largest = static_cast<uint32_t>(random()) & 0x7F7F'FFFF;
    const WeightWindow window = WindowFor(largest);
    ASSERT_GE(window.position, kLowerWindowBits);
    // Weights of any magnitude, and more of those near the window.
    uint32_t bits = static_cast<uint32_t>(random());
    if (i % 2 == 0)
      bits = (largest - static_cast<uint32_t>(random() % 60) * 0x80'0000) ^ bits % 0x80'0000;
    for (const int lower : {0, kLowerWindowBits}) {
      bool is_exact = false;
      ExpectSame(std::bit_cast<float>(bits), window, lower, &is_exact);
      exact += is_exact ? 1 : 0;
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(exact, 500'000);
}

TEST(WeightWindowTest, WeightsOfFourteenBinadesFit) {
  std::mt19937_64 random(2);
  for (int exponent = -80; exponent < 128; ++exponent) {
    const float largest = std::ldexp(1.0F, exponent);
    const WeightWindow window = WindowFor(std::bit_cast<uint32_t>(largest));
    for (int i = 0; i < 2000; ++i) {
      const float fraction = 1 + static_cast<float>(random() >> 41) * 0x1p-23F;
      const float size = std::ldexp(fraction, exponent - static_cast<int>(random() % 15));
      for (const float weight : {size, -size, 0.0F, -0.0F}) {
        bool is_exact = false;
        ExpectSame(weight, window, 0, &is_exact);
        ASSERT_TRUE(is_exact) << weight << ", largest " << largest;
      }
    }
  }
}

TEST(WeightWindowTest, WhatIsNoNumberDoesNotFit) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const uint32_t largest : {0x0000'0000u, 0x3F80'0000u, 0x7F7F'FFFFu}) {
    const WeightWindow window = WindowFor(largest);
    for (const float weight : {kInfinity, -kInfinity, std::nanf(""), -std::nanf("")}) {
      for (const int lower : {0, kLowerWindowBits}) {
        EXPECT_FALSE(NumberInWindow(weight, std::ldexp(window.scale, lower)).is_exact);
      }
    }
  }
  const WeightWindow window = WindowFor(std::bit_cast<uint32_t>(1.0F));
  EXPECT_TRUE(NumberInWindow(3.9F, window.scale).is_exact);
  EXPECT_FALSE(NumberInWindow(4.0F, window.scale).is_exact);
  EXPECT_FALSE(NumberInWindow(0x1p-60F, window.scale).is_exact);
}

}  // namespace
}  // namespace gridfold::kernels
