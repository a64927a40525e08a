#include "kernels/numerics/arithmetic/rounded_divisor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"

namespace gridfold::kernels {
namespace {

double LongQuotient(const Uint192& x, uint64_t divisor) {
  return RoundToDouble(LeadingQuotient(LimbMagnitude::OfUnsigned(x.limbs, 3), 0, divisor));
}

TEST(RoundedDivisorTest, OfDoublesIsDivision) {
  std::mt19937_64 random(1);
  for (uint64_t divisor = 1; divisor < 300; ++divisor) {
    for (int x = 0; x < 3000; ++x) {
      ASSERT_EQ(RoundedDivisor(divisor).QuotientOfDouble(x), x / static_cast<double>(divisor));
    }
  }
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t divisor = (random() >> (11 + random() % 53)) | 1;
    const RoundedDivisor rounded(divisor);
    for (int k = 0; k < 10; ++k) {
      double x = static_cast<double>(random() >> (11 + random() % 53));
      // Beside multiples, and beside the middle of two numbers.
      if (k % 2 == 1) x = std::min(std::floor(x / divisor) * divisor + k / 2 - 2, 0x1p53);
      if (k % 3 == 1) x = -x;
      ASSERT_EQ(rounded.QuotientOfDouble(x), x / static_cast<double>(divisor))
          << x << " by " << divisor;
    }
  }
  EXPECT_FALSE(std::signbit(RoundedDivisor(3).QuotientOfDouble(0)));
}

TEST(RoundedDivisorTest, OfIntegersIsThatOfLongDivision) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t divisor = (random() >> (random() % 64)) | (i % 2);
    if (divisor == 0) continue;
    const RoundedDivisor rounded(divisor);
    const Uint192 x{{random(), random() >> random() % 64, (random() >> random() % 64) * (i % 3)}};
    ASSERT_EQ(rounded.Quotient(x), LongQuotient(x, divisor));
    // Whole quotients and what is beside them: ties between neighbours too.
    for (const uint64_t rest : {uint64_t{0}, uint64_t{1}, divisor / 2, divisor - 1}) {
      const Uint128 near_whole = Uint128{random() >> (random() % 64)} * divisor + rest;
      const Uint192 limbs{
          {static_cast<uint64_t>(near_whole), static_cast<uint64_t>(near_whole >> 64), 0}};
      ASSERT_EQ(rounded.Quotient(near_whole), LongQuotient(limbs, divisor));
    }
  }
}

TEST(RoundedDivisorTest, OfLimits) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  for (const uint64_t divisor :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 32, uint64_t{1} << 63, kMax}) {
    const RoundedDivisor rounded(divisor);
    EXPECT_EQ(rounded.Quotient(Uint128{0}), 0);
    for (const uint64_t first : {uint64_t{0}, uint64_t{1}, kMax}) {
      for (const uint64_t second : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63, kMax}) {
        for (const uint64_t third :
             {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 53) + 1, uint64_t{1} << 63, kMax}) {
          const Uint192 x{{third, second, first}};
          EXPECT_EQ(rounded.Quotient(x), LongQuotient(x, divisor));
        }
      }
    }
  }
  EXPECT_EQ(RoundedDivisor(2).Quotient(Int128{-7}), -3.5);
  EXPECT_FALSE(std::signbit(RoundedDivisor(3).Quotient(Int128{0})));
}

}  // namespace
}  // namespace gridfold::kernels
