#include "kernels/numerics/arithmetic/limbs.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

constexpr int kCount = 6;

Dyadic ExactValue(const std::vector<uint64_t>& limbs) {
  Dyadic value = Dyadic::FromInteger(0);
  for (size_t i = limbs.size(); i-- > 0;) {
    value = value.Times(Dyadic::FromInteger(__int128{1} << 64)).Plus(Dyadic::FromInteger(limbs[i]));
  }
  return value;
}

// Numbers below 2^(64 * used), many of their limbs 0 or all ones.
std::vector<uint64_t> RandomLimbs(std::mt19937_64& random, int used) {
  std::vector<uint64_t> limbs(kCount, 0);
  for (int i = 0; i < used; ++i) {
    const uint64_t kind = random() % 4;
    limbs[i] = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random();
  }
  return limbs;
}

TEST(LimbsTest, SumsProductsAndDifferencesAreExact) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<uint64_t> x = RandomLimbs(random, 2);
    const std::vector<uint64_t> y = RandomLimbs(random, 5);
    const uint64_t factor = random();

    std::vector<uint64_t> product(kCount, 0);
    Multiply(LimbMagnitude::OfUnsigned(y.data(), kCount), factor, product.data());
    ASSERT_EQ(ExactValue(product), ExactValue(y).Times(Dyadic::FromInteger(factor)));

    std::vector<uint64_t> sum = y;
    AddLimbs(sum.data(), x.data(), kCount);
    ASSERT_EQ(ExactValue(sum), ExactValue(y).Plus(ExactValue(x)));

    std::vector<uint64_t> large = y;
    large[5] = 1;
    std::vector<uint64_t> difference = large;
    SubtractSquare(difference.data(), kCount, LimbMagnitude::OfUnsigned(x.data(), kCount));
    ASSERT_EQ(ExactValue(difference), ExactValue(large).Minus(ExactValue(x).Times(ExactValue(x))));
  }
}

TEST(LimbsTest, AddAtAndSubtractAtUndoEachOther) {
  std::mt19937_64 random(21);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<uint64_t> before = RandomLimbs(random, kCount);
    std::vector<uint64_t> limbs = before;
    const Uint128 x = ((Uint128{random()} << 64) | random()) >> (random() % 128);
    const int first = static_cast<int>(random() % kCount);
    SubtractAt(limbs.data(), kCount, first, x);
    AddAt(limbs.data(), kCount, first, x);
    ASSERT_EQ(limbs, before);
  }
}

// Bit by bit, in two's complement.
TEST(LimbsTest, LengthAndBitsOfSignedNumbers) {
  std::mt19937_64 random(22);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint64_t> limbs = RandomLimbs(random, static_cast<int>(random() % (kCount + 1)));
    if (random() % 2 == 0) {
      for (uint64_t& limb : limbs) limb = ~limb;
    }
    const bool negative = (limbs[kCount - 1] >> 63) != 0;
    const auto bit = [&](int i) {
      return i < kCount * 64 ? (limbs[i / 64] >> (i % 64) & 1) != 0 : negative;
    };
    int length = kCount * 64 - 1;
    while (length > 0 && bit(length - 1) == negative) --length;
    ASSERT_EQ(SignedLength(limbs.data(), kCount), length);

    const int position = static_cast<int>(random() % (kCount * 64));
    Uint128 bits = 0;
    for (int i = 127; i >= 0; --i) bits = bits << 1 | (bit(position + i) ? 1 : 0);
    ASSERT_TRUE(BitsFrom(limbs.data(), kCount, position) == bits) << position;
    bool below = false;
    for (int i = 0; i < position; ++i) below = below || bit(i);
    ASSERT_EQ(HasBitsBelow(limbs.data(), position), below) << position;
  }
}

TEST(LimbsTest, MagnitudeOfTwosComplement) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<uint64_t> number = RandomLimbs(random, static_cast<int>(random() % kCount));
    const bool negative = random() % 2 == 0;
    std::vector<uint64_t> limbs(kCount, 0);
    if (negative) {
      for (int i = 0; i < kCount; ++i) SubtractAt(limbs.data(), kCount, i, number[i]);
    } else {
      limbs = number;
    }
    const LimbMagnitude magnitude = LimbMagnitude::OfSigned(limbs.data(), kCount);
    const bool is_zero = number == std::vector<uint64_t>(kCount, 0);
    ASSERT_EQ(magnitude.is_negative(), negative && !is_zero);
    std::vector<uint64_t> seen(kCount, 0);
    for (int i = magnitude.lowest(); i < magnitude.end(); ++i) seen[i] = magnitude[i];
    ASSERT_EQ(seen, number);
    if (is_zero) {
      ASSERT_EQ(magnitude.lowest(), 0);
      ASSERT_EQ(magnitude.end(), 0);
    } else {
      ASSERT_NE(seen[magnitude.lowest()], 0u);
      ASSERT_NE(seen[magnitude.end() - 1], 0u);
    }
  }
}

// Divisors of every length, next to powers of two more often than not.
TEST(LimbsTest, DivisorsDivide) {
  std::mt19937_64 random(24);
  for (int round = 0; round < 200'000; ++round) {
    uint64_t divisor = uint64_t{1} << (random() % 64);
    if (random() % 2 == 0) divisor |= random() >> (random() % 64) & (divisor - 1);
    if (random() % 2 == 0) divisor -= random() % 3;
    if (random() % 8 == 0) divisor = ~divisor;
    if (divisor == 0) continue;
    const LimbDivisor by(divisor);
    for (int step = 0; step < 8; ++step) {
      const uint64_t before = random() % 4 == 0 ? divisor - 1 : random() % divisor;
      const uint64_t digit = random() % 4 == 0 ? ~uint64_t{0} : random() >> (random() % 64);
      const Uint128 dividend = (Uint128{before} << 64) | digit;
      uint64_t rest = before;
      ASSERT_EQ(by.Divide(rest, digit), static_cast<uint64_t>(dividend / divisor)) << divisor;
      ASSERT_EQ(rest, static_cast<uint64_t>(dividend % divisor)) << divisor;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels
