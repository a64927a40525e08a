#include "kernels/cpu/histogram/windowed_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace gridfold::kernels::cpu {
namespace {

template <class F>
class WindowedSumTest : public ::testing::Test {
 protected:
  // Expects what adding the numbers one by one to the long sum gives.
  static void Check(const std::vector<F>& numbers) {
    WindowedSum<F> all;
    WindowedSum<F> halves[2];
    ExactSum<F, 1> expected;
    for (size_t i = 0; i < numbers.size(); ++i) {
      all.Add(numbers[i]);
      halves[i % 2].Add(numbers[i]);
      expected.Add(numbers[i]);
    }
    halves[0].Merge(halves[1]);
    EXPECT_TRUE(all.Total() == expected);
    EXPECT_TRUE(halves[0].Total() == expected);
  }
};
using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(WindowedSumTest, FloatTypes);

TYPED_TEST(WindowedSumTest, NothingAndOneNumber) {
  using Limits = std::numeric_limits<TypeParam>;
  this->Check({});
  for (const TypeParam x :
       {TypeParam{0}, TypeParam{-0.0}, TypeParam{1.5}, -Limits::max(), Limits::denorm_min(),
        Limits::min(), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    this->Check({x});
    this->Check({1, x, -1});
  }
}

TYPED_TEST(WindowedSumTest, NumbersNearEachOther) {
  std::mt19937_64 random(2);
  std::vector<TypeParam> numbers;
  for (int i = 0; i < 10'000; ++i) {
    numbers.push_back(static_cast<TypeParam>(static_cast<double>(random()) * 0x1p-64 - 0.5));
  }
  this->Check(numbers);
}

TYPED_TEST(WindowedSumTest, NumbersAtEveryDistance) {
  using Limits = std::numeric_limits<TypeParam>;
  constexpr TypeParam kFraction = TypeParam{2} - Limits::epsilon();  // All bits set.
  const int lowest = Limits::min_exponent - Limits::digits;
  for (const int center : {lowest, -60, 0, Limits::max_exponent - 1}) {
    for (int distance = 0; distance < 130; ++distance) {
      const int other = center > 0 ? center - distance : center + distance;
      const TypeParam x = std::ldexp(kFraction, center);
      const TypeParam y = -std::ldexp(kFraction, other);
      this->Check({x, x, y, x, y, y});
    }
  }
}

TYPED_TEST(WindowedSumTest, AnyEncodings) {
  using Bits = typename FloatFormat<TypeParam>::Bits;
  std::mt19937_64 random(3);
  std::vector<TypeParam> numbers;
  while (numbers.size() < 5000) {
    const auto x = std::bit_cast<TypeParam>(static_cast<Bits>(random()));
    if (std::isfinite(x)) numbers.push_back(x);
  }
  this->Check(numbers);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
