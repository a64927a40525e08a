#include "kernels/numerics/scans/tree.h"

#include <gtest/gtest.h>

#include <bit>

namespace gridfold::kernels {
namespace {

// Results depend on it, so it is no engine's choice.
TEST(ScanTreeTest, RunsOfAWarpFillItsLanes) {
  for (uint64_t columns = 2; columns <= 1000; ++columns) {
    const auto runs = static_cast<uint64_t>(ScanColumnRuns(columns));
    EXPECT_TRUE(std::has_single_bit(runs)) << columns;
    EXPECT_TRUE(runs == 1 || runs * columns <= kScanLanes) << columns;
    EXPECT_GT(2 * runs * columns, uint64_t{kScanLanes}) << columns;
    EXPECT_EQ(ScanColumnTileRows(columns), 256 * runs) << columns;
  }
  EXPECT_EQ(ScanColumnRuns(2), 16);
  EXPECT_EQ(ScanColumnRuns(3), 8);
  EXPECT_EQ(ScanColumnRuns(16), 2);
  EXPECT_EQ(ScanColumnRuns(17), 1);
}

}  // namespace
}  // namespace gridfold::kernels
