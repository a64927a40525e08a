#include "kernels/cuda/device/grid.h"

#include <limits>

#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(GridTest, CeilDivideRoundsUp) {
  EXPECT_EQ(CeilDivide(0, 256), 0u);
  EXPECT_EQ(CeilDivide(1, 256), 1u);
  EXPECT_EQ(CeilDivide(256, 256), 1u);
  EXPECT_EQ(CeilDivide(257, 256), 2u);
}

TEST(GridTest, CeilDivideDoesNotOverflow) {
  EXPECT_EQ(CeilDivide(kMax, 1), kMax);
  EXPECT_EQ(CeilDivide(kMax, kMax), 1u);
  EXPECT_EQ(CeilDivide(kMax, 2), uint64_t{1} << 63);
}

TEST(GridTest, RoundUpGivesMultiples) {
  EXPECT_EQ(RoundUp(0, 128), 0u);
  EXPECT_EQ(RoundUp(1, 128), 128u);
  EXPECT_EQ(RoundUp(128, 128), 128u);
  EXPECT_EQ(RoundUp(129, 128), 256u);
}

TEST(GridTest, GridIsNeverEmpty) { EXPECT_EQ(GridStrideBlocks(0, 256, 100), 1u); }

TEST(GridTest, GridCoversItemsUpToTheLimit) {
  EXPECT_EQ(GridStrideBlocks(1, 256, 100), 1u);
  EXPECT_EQ(GridStrideBlocks(257, 256, 100), 2u);
  EXPECT_EQ(GridStrideBlocks(256 * 100, 256, 100), 100u);
  EXPECT_EQ(GridStrideBlocks(256 * 101, 256, 100), 100u);
}

TEST(GridTest, GridFitsItsDimensionPastAllLimits) {
  EXPECT_EQ(GridStrideBlocks(kMax, 1, kMax), 0x7FFF'FFFFu);
  EXPECT_EQ(GridStrideBlocks(5, 1, 0), 1u);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
