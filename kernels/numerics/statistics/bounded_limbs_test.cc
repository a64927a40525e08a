#include "kernels/numerics/statistics/bounded_limbs.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {
namespace {

using statistic_internal::ExactQuotient;
using statistic_internal::ExactVariance;

// The oracle is long arithmetic.
TEST(BoundedLimbsTest, CertainQuotientsAreExactOnes) {
  std::mt19937_64 random(41);
  int certain = 0;
  constexpr int kTurns = 100'000;
  for (int turn = 0; turn < kTurns; ++turn) {
    // Some limbs with zeros above and below, and of few bits now and then.
    uint64_t limbs[9] = {};
    const int count = 1 + static_cast<int>(random() % 9);
    const int first = static_cast<int>(random() % static_cast<uint64_t>(count));
    for (int i = first; i < count; ++i) limbs[i] = random();
    limbs[count - 1] >>= 1 + random() % 63;
    const bool is_root = random() % 2 == 0;
    const bool is_negative = !is_root && random() % 2 == 0;
    const LimbMagnitude unsigned_number = LimbMagnitude::OfUnsigned(limbs, 9);
    if (unsigned_number.end() == 0) continue;
    if (is_negative) {
      uint64_t carry = 1;
      for (uint64_t& limb : limbs) {
        limb = ~limb + carry;
        carry = carry != 0 && limb == 0 ? 1 : 0;
      }
    }
    const LimbMagnitude number =
        is_negative ? LimbMagnitude::OfSigned(limbs, 9) : LimbMagnitude::OfUnsigned(limbs, 9);
    const int exponent = static_cast<int>(random() % 1200) - 900;
    const uint64_t divisor = random() % 4 == 0 ? 1 : 1 + random() % (1 << 30);
    double value = 0;
    if (!RoundQuotient(BoundedLimbs(number, exponent), static_cast<double>(divisor), is_root,
                       value)) {
      continue;
    }
    ++certain;
    ASSERT_EQ(std::bit_cast<uint64_t>(value),
              std::bit_cast<uint64_t>(ExactQuotient(number, exponent, divisor, is_root)));
  }
  EXPECT_GT(certain, kTurns / 2);  // Others are too large or small.
}

// Numbers whose quotients or roots are numbers, halfway between two, or beside that.
TEST(BoundedLimbsTest, QuotientsBesideNumbers) {
  std::mt19937_64 random(42);
  int certain = 0;
  for (int turn = 0; turn < 50'000; ++turn) {
    const uint64_t root = (random() >> (11 + random() % 50)) | 1;
    const uint64_t divisor = 1 + random() % 1000;
    const bool is_root = turn % 2 == 0;
    const Uint128 whole = is_root ? Uint128{root} * root : Uint128{root * 2 + random() % 2};
    const Uint128 exact = whole * divisor;
    for (int beside = -1; beside <= 1; ++beside) {
      const Uint128 number = exact + static_cast<Uint128>(static_cast<Int128>(beside));
      const uint64_t limbs[2] = {static_cast<uint64_t>(number),
                                 static_cast<uint64_t>(number >> kLimbBits)};
      const LimbMagnitude magnitude = LimbMagnitude::OfUnsigned(limbs, 2);
      double value = 0;
      if (!RoundQuotient(BoundedLimbs(magnitude, 0), static_cast<double>(divisor), is_root,
                         value)) {
        continue;
      }
      ++certain;
      ASSERT_EQ(std::bit_cast<uint64_t>(value),
                std::bit_cast<uint64_t>(ExactQuotient(magnitude, 0, divisor, is_root)));
    }
  }
  EXPECT_GT(certain, 100'000);
}

template <class T>
class BoundedVarianceTest : public testing::Test {};
using Types = testing::Types<float, double, int64_t, uint64_t, int32_t>;
TYPED_TEST_SUITE(BoundedVarianceTest, Types);

TYPED_TEST(BoundedVarianceTest, CertainVariancesAreExactOnes) {
  using T = TypeParam;
  std::mt19937_64 random(43);
  std::normal_distribution<double> normal;
  int certain = 0;
  int asked = 0;
  for (int turn = 0; turn < 6'000; ++turn) {
    const int kind = turn % 6;
    const uint64_t count = 1 + random() % 60;
    const uint64_t ddof = random() % count;
    SumState<T> sum;
    SquaresState<T> squares;
    for (uint64_t i = 0; i < count; ++i) {
      double x = normal(random);
      if (kind == 1) x = x * 0.001 + 1000;                                      // Far from 0.
      if (kind == 2) x = std::ldexp(x, static_cast<int>(random() % 100) - 50);  // Spread.
      if (kind == 3) x = static_cast<double>(random() % 5);                     // Small integers.
      if (kind == 4) x = 7;                                                     // All the same.
      if (kind == 5) x = std::ldexp(x, -140);                                   // Tiny.
      T element;
      if constexpr (std::is_floating_point_v<T>) {
        element = static_cast<T>(x);
      } else {
        element = static_cast<T>(kind == 0 ? static_cast<int64_t>(random()) : std::llround(x));
      }
      sum.Add(element, 0);
      squares.Add(element, 0);
    }
    uint64_t sum_room[SumState<T>::kLimbs];
    uint64_t squares_room[SquaresState<T>::kLimbs];
    const LimbMagnitude of_sum = sum.Magnitude(sum_room);
    const LimbMagnitude of_squares = squares.Magnitude(squares_room);
    if (of_squares.end() == 0) continue;
    for (const bool is_root : {false, true}) {
      for (const uint64_t divisor : {uint64_t{1}, count}) {
        double value = 0;
        ++asked;
        if (!RoundVariance(BoundedLimbs(of_sum, SumState<T>::kLowestExponent),
                           BoundedLimbs(of_squares, SquaresState<T>::kLowestExponent), count, ddof,
                           divisor, is_root, value)) {
          continue;
        }
        ++certain;
        ASSERT_EQ(std::bit_cast<uint64_t>(value),
                  std::bit_cast<uint64_t>(
                      ExactVariance<T>(of_sum, of_squares, count, ddof, divisor, is_root)))
            << "kind " << kind << ", " << count << " elements";
      }
    }
  }
  EXPECT_GT(certain, asked / 2);  // Bounds do not tell that a variance is 0.
}

TEST(BoundedLimbsTest, NothingIsKnownOfWhatIsTooLargeOrSmall) {
  const uint64_t one = 1;
  const LimbMagnitude x = LimbMagnitude::OfUnsigned(&one, 1);
  double value = 0;
  const auto is_known = [&](int exponent) {
    return RoundQuotient(BoundedLimbs(x, exponent), 1, false, value);
  };
  EXPECT_TRUE(is_known(-400));
  EXPECT_EQ(value, 0x1p-400);
  EXPECT_FALSE(is_known(-401));
  EXPECT_TRUE(is_known(428));
  EXPECT_EQ(value, 0x1p428);
  EXPECT_FALSE(is_known(429));
  EXPECT_FALSE(RoundQuotient(BoundedLimbs(x, 0), 0x1p52 + 1, false, value));
  EXPECT_FALSE(RoundQuotient(BoundedLimbs(x, 0), 0, false, value));
  EXPECT_TRUE(RoundQuotient(BoundedLimbs(x, 0), 0x1p52, false, value));
  const BoundedNumber some{3, 0, 0};
  EXPECT_TRUE(RoundVariance(some, {50, 0, 0}, (1 << 26) - 1, 0, 1, false, value));
  EXPECT_FALSE(RoundVariance(some, {50, 0, 0}, 1 << 26, 0, 1, false, value));
}

}  // namespace
}  // namespace gridfold::kernels
