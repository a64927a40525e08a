#include "kernels/numerics/paired/big_integer.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

Dyadic ToDyadic(const BigInteger& x) {
  std::vector<uint32_t> words;
  for (const uint64_t limb : x.magnitude()) {
    words.push_back(static_cast<uint32_t>(limb));
    words.push_back(static_cast<uint32_t>(limb >> 32));
  }
  return {x.is_negative(), words, 0};
}

// Of up to `limb_count` limbs, some of which are 0 or all ones.
class Numbers {
 public:
  BigInteger Next(size_t limb_count) {
    std::vector<uint64_t> limbs(random_() % limb_count + 1);
    for (uint64_t& limb : limbs) {
      const uint64_t kind = random_() % 4;
      limb = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random_();
    }
    return BigInteger::OfSigned(limbs);
  }

 private:
  std::mt19937_64 random_{20'260'101};
};

TEST(BigIntegerTest, TwosComplement) {
  const auto of = [](std::vector<uint64_t> limbs) { return BigInteger::OfSigned(limbs); };
  EXPECT_TRUE(of({0, 0}).is_zero());
  EXPECT_TRUE(of({~uint64_t{0}, ~uint64_t{0}}).is_negative());
  EXPECT_EQ(of({~uint64_t{0}, ~uint64_t{0}}).magnitude(), (std::vector<uint64_t>{1}));
  EXPECT_EQ(of({0, uint64_t{1} << 63}).magnitude(), (std::vector<uint64_t>{0, uint64_t{1} << 63}));
  EXPECT_EQ(of({5, 0}).bit_length(), 3);
}

TEST(BigIntegerTest, ArithmeticIsThatOfTheOracle) {
  Numbers numbers;
  for (int i = 0; i < 2'000; ++i) {
    const BigInteger a = numbers.Next(5);
    const BigInteger b = numbers.Next(5);
    ASSERT_TRUE(ToDyadic(a.Times(b)) == ToDyadic(a).Times(ToDyadic(b)));
    ASSERT_TRUE(ToDyadic(a.Minus(b)) == ToDyadic(a).Minus(ToDyadic(b)));
    const int shift = i % 150;
    ASSERT_TRUE(ToDyadic(a.ShiftedUp(shift)) == ToDyadic(a).Times(Dyadic(false, {1}, shift)));
  }
}

// The quotient lies between the numbers halfway to the neighbours of what it was rounded to.
void ExpectNearest(const Dyadic& numerator, const Dyadic& denominator, double rounded) {
  const auto at_halfway = [&](double neighbour) {
    const Dyadic both = Dyadic::FromDouble(rounded).Plus(Dyadic::FromDouble(neighbour));
    return numerator.Plus(numerator).Minus(both.Times(denominator)).Sign();
  };
  EXPECT_GE(at_halfway(std::nextafter(rounded, -INFINITY)), 0);
  EXPECT_LE(at_halfway(std::nextafter(rounded, INFINITY)), 0);
}

TEST(BigIntegerTest, RatiosAreRoundedOnce) {
  Numbers numbers;
  for (int i = 0; i < 2'000; ++i) {
    const BigInteger numerator = numbers.Next(5);
    BigInteger denominator = numbers.Next(5);
    if (denominator.is_negative()) denominator = BigInteger().Minus(denominator);
    if (denominator.is_zero()) continue;
    const int exponent = i % 400 - 200;
    const Dyadic scaled = ToDyadic(numerator).Times(Dyadic(false, {1}, exponent));
    ExpectNearest(scaled, ToDyadic(denominator), RoundedRatio(numerator, denominator, exponent));
    if (HasFailure()) return;
  }
}

TEST(BigIntegerTest, RatiosAtTheEdges) {
  const BigInteger three(3);
  EXPECT_EQ(RoundedRatio(BigInteger(), three, 0), 0);
  EXPECT_EQ(RoundedRatio(three, three, 0), 1);
  EXPECT_EQ(RoundedRatio(BigInteger().Minus(three), BigInteger(2), 0), -1.5);
  EXPECT_EQ(RoundedRatio(three, BigInteger(1), 1023), INFINITY);
  EXPECT_EQ(RoundedRatio(BigInteger(1), BigInteger(1), -1074), 0x1p-1074);
  EXPECT_EQ(RoundedRatio(BigInteger(1), BigInteger(2), -1074), 0);  // Ties to even.
  EXPECT_EQ(RoundedRatio(three, BigInteger(2), -1074), 0x1p-1073);
}

}  // namespace
}  // namespace gridfold::kernels
