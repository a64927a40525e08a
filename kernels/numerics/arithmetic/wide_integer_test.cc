#include "kernels/numerics/arithmetic/wide_integer.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

// Any number of significant bits is as likely as any other.
uint64_t RandomOfAnyLength(std::mt19937_64& random) { return random() >> (random() % 64); }

Dyadic ExactValue(const Uint192& x) {
  std::vector<uint32_t> digits;
  for (const uint64_t limb : x.limbs) {
    digits.push_back(static_cast<uint32_t>(limb));
    digits.push_back(static_cast<uint32_t>(limb >> 32));
  }
  return Dyadic(false, digits, 0);
}

Dyadic SquareOf(uint64_t x) {
  const Dyadic exact = Dyadic::FromInteger(x);
  return exact.Times(exact);
}

TEST(Uint192Test, SumsOfSquaresAreExact) {
  std::mt19937_64 random(2);
  Uint192 sum;
  Dyadic exact;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t x = i % 3 == 0 ? ~uint64_t{0} : RandomOfAnyLength(random);
    sum.Add(Uint128{x} * x);
    exact = exact.Plus(SquareOf(x));
    ASSERT_EQ(ExactValue(sum), exact);
  }
}

TEST(Uint192Test, MergeIsTheSumOfTheParts) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i) {
    Uint192 a{{random(), random(), random() >> 1}};
    const Uint192 b{{i % 2 == 0 ? ~uint64_t{0} : random(), ~uint64_t{0}, random() >> 1}};
    const Dyadic exact = ExactValue(a).Plus(ExactValue(b));
    a.Merge(b);
    ASSERT_EQ(ExactValue(a), exact);
  }
}

TEST(FitsTest, OnlyTheRangeOfTheType) {
  constexpr Int128 kOne = 1;
  constexpr Int128 kInt64Max = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(Fits<int64_t>(kInt64Max));
  EXPECT_FALSE(Fits<int64_t>(kInt64Max + 1));
  EXPECT_TRUE(Fits<int64_t>(-kInt64Max - 1));
  EXPECT_FALSE(Fits<int64_t>(-kInt64Max - 2));
  EXPECT_TRUE(Fits<uint64_t>((kOne << 64) - 1));
  EXPECT_FALSE(Fits<uint64_t>(kOne << 64));
  EXPECT_TRUE(Fits<uint64_t>(0));
  EXPECT_FALSE(Fits<uint64_t>(-1));
  EXPECT_FALSE(Fits<int64_t>(kOne << 100));
}

}  // namespace
}  // namespace gridfold::kernels
