// Numbers within bounds against the exact ones: what they say of two numbers is so.
#include "kernels/accumulators/rough_number.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/accumulators/wide_number.h"

namespace gridfold::kernels {
namespace {

using Wide = WideNumber<160>;

struct Both {
  RoughNumber rough;
  Wide wide;
};

Both Of(Uint128 magnitude, bool negative, uint32_t position) {
  return {RoughNumber::Of(magnitude, negative, position), Wide::Of(magnitude, negative, position)};
}
Both operator+(const Both& a, const Both& b) { return {a.rough + b.rough, a.wide + b.wide}; }
Both operator*(const Both& a, const Both& b) { return {a.rough * b.rough, a.wide * b.wide}; }
Both operator-(const Both& a) { return {-a.rough, -a.wide}; }

// Numbers and what is next to them, of few bits and of many, at both ends of the range.
std::vector<Both> Numbers() {
  std::mt19937_64 random(1);
  std::vector<Both> numbers = {Of(0, false, 0), Of(1, false, 0), Of(1, true, 0)};
  for (const uint32_t position : {0u, 1u, 63u, 64u, 700u, 2045u}) {
    for (const int bits : {1, 24, 53, 63, 64, 65, 100, 127}) {
      const Uint128 any = Uint128{random()} << kLimbBits | random();
      const Uint128 number = (any >> (128 - bits)) | 1;
      for (const Uint128 near : {number - 1, number, number + 1}) {
        numbers.push_back(Of(near, random() % 2 == 0, position));
      }
    }
  }
  return numbers;
}

void ExpectTrue(const Both& a, const Both& b) {
  EXPECT_TRUE(!(a.rough <= b.rough) || a.wide <= b.wide);
  EXPECT_TRUE(!(a.rough >= b.rough) || a.wide >= b.wide);
  EXPECT_TRUE(!(a.rough == b.rough) || a.wide == b.wide);
}

TEST(RoughNumberTest, WhatTheySayIsSo) {
  const std::vector<Both> numbers = Numbers();
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = 0; j < numbers.size(); ++j) {
      const Both& a = numbers[i];
      const Both& b = numbers[j];
      ExpectTrue(a, b);
      ExpectTrue(a + b, b + a);
      ExpectTrue(a * b, b);
      // Close to each other: (a + b)^2 and a^2 + 2ab + b^2, and one more.
      const Both squared = (a + b) * (a + b);
      const Both spread = a * a + Of(2, false, 0) * (a * b) + b * b;
      ExpectTrue(squared, spread);
      ExpectTrue(squared + Of(1, false, 0), spread);
      ExpectTrue(squared + Of(1, true, 0), spread);
      ExpectTrue(a + b + -a, b);
    }
  }
}

TEST(RoughNumberTest, FewBitsAreExact) {
  // 2^3 * 5 is 40, and 40 + 2^60 has fewer than 64 bits.
  const RoughNumber number = RoughNumber::Of(5, false, 3);
  EXPECT_TRUE(number == RoughNumber::Of(40));
  EXPECT_TRUE(number + RoughNumber::Of(1, false, 60) == RoughNumber::Of((Uint128{1} << 60) + 40));
  EXPECT_TRUE(number * number == RoughNumber::Of(1600));
  EXPECT_FALSE(number * number <= RoughNumber::Of(1599));
  const RoughNumber large = RoughNumber::Of(1, false, 2000);
  EXPECT_FALSE(large + number == large);
  EXPECT_FALSE(large + number <= large);
  EXPECT_TRUE(large <= large * number);
}

TEST(RoughNumberTest, LimbsAreRead) {
  uint64_t limbs[4] = {0, 0, 7, 0};
  const auto number = [&limbs] { return RoughNumber::Of(LimbMagnitude::OfSigned(limbs, 4)); };
  EXPECT_TRUE(number() == RoughNumber::Of(7, false, 128));
  limbs[0] = 1;
  EXPECT_FALSE(number() == RoughNumber::Of(7, false, 128));
  EXPECT_TRUE(number() <= RoughNumber::Of(8, false, 128));
  EXPECT_TRUE(number() >= RoughNumber::Of(6, false, 128));
  for (uint64_t& limb : limbs) limb = ~uint64_t{0};
  EXPECT_TRUE(number() == RoughNumber::Of(1, true));
}

}  // namespace
}  // namespace gridfold::kernels
