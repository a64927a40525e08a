#include "kernels/numerics/arithmetic/integer_quotient.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

// By long division from the top, whatever the numbers.
double LongQuotient(Uint128 x, uint64_t divisor) {
  const uint64_t limbs[2] = {static_cast<uint64_t>(x), static_cast<uint64_t>(x >> kLimbBits)};
  return RoundToDouble(LeadingQuotient(LimbMagnitude::OfUnsigned(limbs, 2), 0, divisor));
}

TEST(IntegerQuotientTest, IsThatOfLongDivision) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const Uint128 x = (Uint128{random()} << 64 | random()) >> (random() % 128);
    const uint64_t divisor = (random() >> (random() % 64)) | 1;
    EXPECT_EQ(IntegerQuotient(x, divisor), LongQuotient(x, divisor));
    // Whole quotients and what is beside them: ties between neighbours too.
    for (const uint64_t rest : {uint64_t{0}, uint64_t{1}, divisor / 2, divisor - 1}) {
      const Uint128 near_whole = Uint128{random() >> (random() % 12)} * divisor + rest;
      EXPECT_EQ(IntegerQuotient(near_whole, divisor), LongQuotient(near_whole, divisor));
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(IntegerQuotientTest, OfLimits) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  for (const uint64_t low : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 53, (uint64_t{1} << 53) + 1,
                             uint64_t{1} << 63, kMax}) {
    for (const uint64_t high : {uint64_t{0}, uint64_t{1}, kMax}) {
      for (const uint64_t divisor :
           {uint64_t{1}, uint64_t{2}, uint64_t{3}, (uint64_t{1} << 53) + 1, kMax}) {
        const Uint128 x = Uint128{high} << 64 | low;
        EXPECT_EQ(IntegerQuotient(x, divisor), LongQuotient(x, divisor));
      }
    }
  }
}

TEST(IntegerQuotientTest, HasTheSignOfTheInteger) {
  EXPECT_EQ(SignedIntegerQuotient(-7, 2), -3.5);
  EXPECT_EQ(SignedIntegerQuotient(7, 2), 3.5);
  EXPECT_EQ(std::signbit(SignedIntegerQuotient(0, 3)), false);
  const Int128 lowest = -(Int128{1} << 126) * 2;
  EXPECT_EQ(SignedIntegerQuotient(lowest, 1), -0x1p127);
}

TEST(IntegerQuotientTest, Variances) {
  EXPECT_EQ(IntegerVariance<uint64_t>(int64_t{-10}, uint64_t{30}, 4, 0), 1.25);
  EXPECT_EQ(IntegerVariance<uint64_t>(int64_t{10}, uint64_t{30}, 4, 1), 5.0 / 3);
  // Of 2^32 - 1 elements of 32 bits.
  constexpr uint64_t kCount = 0xFFFF'FFFF;
  const Uint128 square = Uint128{kCount} * kCount;
  EXPECT_EQ(IntegerVariance<Uint128>(Int128{kCount} * kCount, square * kCount, kCount, 0), 0);
}

}  // namespace
}  // namespace gridfold::kernels
