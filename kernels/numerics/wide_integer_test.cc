#include "kernels/numerics/wide_integer.h"

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

Dyadic ExactValue(DoubleDouble x) {
  return Dyadic::FromDouble(x.high).Plus(Dyadic::FromDouble(x.low));
}

Dyadic SquareOf(uint64_t x) {
  const Dyadic exact = Dyadic::FromInteger(x);
  return exact.Times(exact);
}

// |approximation - exact| <= 2^-104 * exact, and the high part is the rounded value.
void ExpectNear(DoubleDouble approximation, const Dyadic& exact) {
  const Dyadic error = ExactValue(approximation).Minus(exact);
  const double bound = std::ldexp(std::fabs(exact.ToDouble()), -104);
  EXPECT_LE(std::fabs(error.ToDouble()), bound) << exact.ToDouble();
  EXPECT_EQ(approximation.high, approximation.high + approximation.low);
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

Dyadic ExactValue(const Uint256& x) {
  Dyadic value = Dyadic::FromInteger(0);
  for (int i = 3; i >= 0; --i) {
    value =
        value.Times(Dyadic::FromInteger(__int128{1} << 64)).Plus(Dyadic::FromInteger(x.limbs[i]));
  }
  return value;
}

TEST(Uint256Test, ProductsSquaresAndDifferencesAreExact) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 2000; ++i) {
    const Uint192 a{{random(), RandomOfAnyLength(random), i % 2 == 0 ? ~uint64_t{0} : 0}};
    const uint64_t b = i % 3 == 0 ? ~uint64_t{0} : RandomOfAnyLength(random);
    const Dyadic product = ExactValue(a).Times(Dyadic::FromInteger(b));
    ASSERT_EQ(ExactValue(Uint256::Product(a, b)), product);
    const auto root =
        static_cast<Int128>((Uint128{random()} << 64 | random()) >> (1 + random() % 127));
    const Dyadic square = Dyadic::FromInteger(root).Times(Dyadic::FromInteger(root));
    const Uint256 small = Uint256::Square(static_cast<Uint128>(root));
    ASSERT_EQ(ExactValue(small), square);
    const Uint256 large{{random(), random(), random(), ~uint64_t{0}}};
    ASSERT_EQ(ExactValue(large.Minus(small)), ExactValue(large).Minus(square));
    ExpectNear(ToDoubleDouble(large), ExactValue(large));
  }
}

TEST(ToDoubleDoubleTest, KeepsAbout106Bits) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 5000; ++i) {
    const Uint192 wide{{random(), RandomOfAnyLength(random), RandomOfAnyLength(random)}};
    ExpectNear(ToDoubleDouble(wide), ExactValue(wide));
    const auto bits = (Uint128{RandomOfAnyLength(random)} << 64 | random()) >> (random() % 127);
    ExpectNear(ToDoubleDouble(static_cast<Int128>(bits)),
               Dyadic::FromInteger(static_cast<Int128>(bits)));
  }
}

TEST(ToDoubleDoubleTest, EndsOfTheRange) {
  ExpectNear(ToDoubleDouble(Uint192{}), Dyadic());
  const Uint192 largest{{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}};
  ExpectNear(ToDoubleDouble(largest), ExactValue(largest));
  const Int128 smallest = static_cast<Int128>(Uint128{1} << 127);
  ExpectNear(ToDoubleDouble(smallest), Dyadic::FromInteger(smallest));
  EXPECT_EQ(ToDoubleDouble(Int128{-3}).high, -3);
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
