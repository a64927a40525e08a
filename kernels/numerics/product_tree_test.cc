#include "kernels/numerics/product_tree.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

// The tiles' products multiplied level by level, as the header tells it.
double LevelByLevel(std::vector<double> level) {
  while (level.size() > 1) {
    std::vector<double> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] * level[i + 1]);
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = next;
  }
  return level.empty() ? 1.0 : level.front();
}

std::vector<double> RandomFactors(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> factor(0.5, 1.9);
  std::vector<double> factors(count);
  for (double& x : factors) x = factor(random);
  return factors;
}

TEST(PairwiseProductTest, IsTheTreeMultipliedLevelByLevel) {
  for (size_t count = 0; count <= 300; ++count) {
    const std::vector<double> tiles = RandomFactors(count, 100 + count);
    PairwiseProduct product;
    for (const double tile : tiles) product.Push(tile);
    ASSERT_EQ(std::bit_cast<uint64_t>(product.Result()),
              std::bit_cast<uint64_t>(LevelByLevel(tiles)))
        << count << " tiles";
  }
}

TEST(PairwiseProductTest, OrderOfTheFactorsIsKept) {
  // 2^600 * 2^600 overflows; neighbours of opposite size do not.
  PairwiseProduct product;
  for (const double tile : {0x1p600, 0x1p-600, 0x1p600, 0x1p-600}) product.Push(tile);
  EXPECT_EQ(product.Result(), 1.0);
}

TEST(ProductOfLaneTest, TakesEveryThirtySecondElementOfTheTile) {
  for (const uint64_t size : {uint64_t{1}, uint64_t{31}, uint64_t{512}, uint64_t{700}}) {
    const std::vector<double> factors = RandomFactors(size, 200 + size);
    for (uint64_t tile = 0; tile < size; tile += kProductTile) {
      for (uint64_t lane = 0; lane < kProductLanes; ++lane) {
        double expected = 1;
        for (uint64_t i = tile; i < size && i < tile + kProductTile; ++i) {
          if (i % kProductLanes == lane) expected *= factors[i];
        }
        EXPECT_EQ(ProductOfLane(tile, size, lane, [&](uint64_t i) { return factors[i]; }),
                  expected);
      }
    }
  }
}

TEST(ProductFactorTest, OnlyAnIgnoredNanCountsAsOne) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ProductFactor(2.5f, true), 2.5);
  EXPECT_EQ(ProductFactor(nan, true), 1.0);
  EXPECT_TRUE(std::isnan(ProductFactor(nan, false)));
  EXPECT_EQ(ProductFactor(Float16::FromDouble(-0.5), false), -0.5);
}

}  // namespace
}  // namespace gridfold::kernels
