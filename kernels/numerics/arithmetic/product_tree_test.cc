#include "kernels/numerics/arithmetic/product_tree.h"

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
ScaledProduct LevelByLevel(std::vector<ScaledProduct> level) {
  while (level.size() > 1) {
    std::vector<ScaledProduct> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i].Times(level[i + 1]));
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = next;
  }
  return level.empty() ? ScaledProduct() : level.front();
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
    std::vector<ScaledProduct> tiles;
    for (const double tile : RandomFactors(count, 100 + count)) {
      tiles.push_back(ScaledProduct::Of(tile));
    }
    PairwiseProduct product;
    for (const ScaledProduct& tile : tiles) product.Push(tile);
    ASSERT_EQ(std::bit_cast<uint64_t>(product.Result().Rounded()),
              std::bit_cast<uint64_t>(LevelByLevel(tiles).Rounded()))
        << count << " tiles";
  }
}

TEST(PairwiseProductTest, PartsMayLeaveTheRange) {
  PairwiseProduct product;
  for (const double tile : {0x1p600, 0x1p600, 0x1p-600, 0x1p-600, 0x1p-1074}) {
    product.Push(ScaledProduct::Of(tile));
  }
  EXPECT_EQ(product.Result().Rounded(), 0x1p-1074);
}

TEST(ProductOfLaneTest, TakesEveryThirtySecondElementOfTheTile) {
  for (const uint64_t size : {uint64_t{1}, uint64_t{31}, uint64_t{512}, uint64_t{700}}) {
    for (const double scale : {1.0, 0x1p100, 0x1p-200}) {
      const std::vector<double> factors = RandomFactors(size, 200 + size);
      for (uint64_t tile = 0; tile < size; tile += kProductTile) {
        for (uint64_t lane = 0; lane < kProductLanes; ++lane) {
          double expected = 1;
          int64_t count = 0;
          for (uint64_t i = tile; i < size && i < tile + kProductTile; ++i) {
            if (i % kProductLanes != lane) continue;
            expected *= factors[i];
            ++count;
          }
          ScaledProduct product =
              ProductOfLane(tile, size, lane, [&](uint64_t i) { return scale * factors[i]; });
          product.exponent -= count * std::ilogb(scale);
          EXPECT_EQ(product.Rounded(), expected);
        }
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
