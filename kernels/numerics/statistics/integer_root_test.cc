#include "kernels/numerics/statistics/integer_root.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "gtest/gtest.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"

namespace gridfold::kernels {
namespace {

double ExactRoot(Uint128 numerator, uint64_t divisor) {
  const uint64_t limbs[2] = {static_cast<uint64_t>(numerator),
                             static_cast<uint64_t>(numerator >> kLimbBits)};
  return RoundToDouble(
      SquareRoot(LeadingQuotient(LimbMagnitude::OfUnsigned(limbs, 2), 0, divisor)));
}

TEST(IntegerRootTest, CertainRootsAreExactOnes) {
  std::mt19937_64 random(31);
  int certain = 0;
  constexpr int kTurns = 200'000;
  for (int turn = 0; turn < kTurns; ++turn) {
    const Uint128 bits = Uint128{random()} << kLimbBits | random();
    const Uint128 numerator = bits >> (14 + random() % 114);
    const uint64_t divisor = 1 + random() % (uint64_t{1} << (1 + random() % 52));
    double root = 0;
    if (!RootOfQuotient(numerator, static_cast<double>(divisor), root)) continue;
    ++certain;
    ASSERT_EQ(std::bit_cast<uint64_t>(root),
              std::bit_cast<uint64_t>(ExactRoot(numerator, divisor)));
  }
  EXPECT_GT(certain, kTurns * 99 / 100);
}

// Roots that are numbers, and what lies beside them.
TEST(IntegerRootTest, SquaresAndTheirNeighbours) {
  std::mt19937_64 random(32);
  for (int turn = 0; turn < 20'000; ++turn) {
    const uint64_t root = random() >> (8 + random() % 56);
    const uint64_t divisor_root = 1 + random() % 1000;
    const Uint128 square = Uint128{root} * root;
    for (int beside = -1; beside <= 1; ++beside) {
      if (root == 0 && beside < 0) continue;
      const Uint128 numerator = square + static_cast<Uint128>(static_cast<Int128>(beside));
      double found = 0;
      if (!RootOfQuotient(numerator, static_cast<double>(divisor_root * divisor_root), found)) {
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint64_t>(found),
                std::bit_cast<uint64_t>(ExactRoot(numerator, divisor_root * divisor_root)));
    }
  }
  double root = 0;
  ASSERT_TRUE(RootOfQuotient(0, 7, root));
  EXPECT_EQ(std::bit_cast<uint64_t>(root), 0u);
  ASSERT_TRUE(RootOfQuotient(Uint128{49}, 4, root));
  EXPECT_EQ(root, 3.5);
}

TEST(IntegerRootTest, NothingIsKnownOfTheLargest) {
  double root = 0;
  EXPECT_FALSE(RootOfQuotient(Uint128{1} << 114, 3, root));
  EXPECT_FALSE(RootOfQuotient(~Uint128{0}, 3, root));
  EXPECT_FALSE(RootOfQuotient(Uint128{1} << 127, 1, root));
  EXPECT_FALSE(RootOfQuotient(3, 0x1p52 + 1, root));
  EXPECT_FALSE(RootOfQuotient(3, 0, root));
  EXPECT_TRUE(RootOfQuotient((Uint128{1} << 114) - 1, 3, root));
  EXPECT_TRUE(RootOfQuotient(3, 0x1p52, root));
}

TEST(IntegerRootTest, VariancesOfIntegers) {
  double root = 0;
  // Of -3, 1 and 5: mean 1, squares of deviations 32.
  ASSERT_TRUE(RootOfVariance(int64_t{3}, uint64_t{35}, 3, 0, 1, root));
  EXPECT_EQ(root, std::sqrt(32.0 / 3));
  ASSERT_TRUE(RootOfVariance(Int128{-3}, Uint128{35}, 3, 1, 1, root));
  EXPECT_EQ(root, 4);
  ASSERT_TRUE(RootOfVariance(int64_t{-3}, uint64_t{35}, 3, 1, 3, root));
  EXPECT_EQ(root, std::sqrt(16.0 / 3));
  EXPECT_FALSE(RootOfVariance(int64_t{0}, uint64_t{1}, uint64_t{1} << 32, 0, 1, root));
  // Divisors beyond 2^52.
  EXPECT_TRUE(RootOfVariance(int64_t{0}, uint64_t{1}, uint64_t{1} << 26, 0, 1, root));
  EXPECT_FALSE(RootOfVariance(int64_t{0}, uint64_t{1}, (uint64_t{1} << 26) + 1, 0, 1, root));
}

}  // namespace
}  // namespace gridfold::kernels
