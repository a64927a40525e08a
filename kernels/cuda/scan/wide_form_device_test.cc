// Whether scans with a plain operator report each result that it does not hold, and no others
// (numerics/scans/operator.h): one running product at a time is out of the window.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/scan/scan_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

class ScanWideFormDeviceTest : public ScanDeviceTest {
 protected:
  // The scan of ones but for 2^exponent at `place`, and its inverse at the next place of the group,
  // `step` elements further on.
  void ExpectReport(uint64_t count, uint64_t columns, GroupingKind kind, uint64_t place,
                    uint64_t step) {
    for (ScanSpec spec : ModesAndDirections()) {
      spec.operation = ScanOperation::kProduct;
      spec.grouping.kind = kind;
      for (const int exponent : {-510, 510, -511, 511}) {
        std::vector<double> values(count, 1.0);
        values[place] = std::ldexp(1.0, exponent);
        values[place + step] = std::ldexp(1.0, -exponent);
        const auto result = Scan<double>(values, spec, columns);
        ASSERT_TRUE(result.status.ok()) << result.status;
        EXPECT_EQ(result.overflow_flag, std::abs(exponent) > 510)
            << count << " elements, " << columns << " columns, 2^" << exponent << " at " << place;
      }
    }
  }
};

TEST_F(ScanWideFormDeviceTest, ReportsOfPositionsInARow) {
  for (const uint64_t count : {3, 4097, 50'000}) {
    for (const uint64_t place : {0, 14, 15, 16, 511, 4094, 4095, 4096, 49'997}) {
      if (place + 2 < count) ExpectReport(count, 0, GroupingKind::kWhole, place, 1);
    }
  }
  for (const uint64_t columns : {3, 64, 5000}) {
    const uint64_t rows = 48'000 / columns;
    for (const uint64_t row : {uint64_t{0}, rows / 2, rows - 1}) {
      for (const uint64_t column : {uint64_t{0}, columns - 2}) {
        ExpectReport(rows * columns, columns, GroupingKind::kAxis1, row * columns + column, 1);
      }
    }
  }
}

// Few columns, panels of columns, and a thread for each.
TEST_F(ScanWideFormDeviceTest, ReportsOfColumns) {
  for (const uint64_t columns : {2, 3, 33, 64, 1001}) {
    const uint64_t rows = 40'000 / columns;
    for (const uint64_t row : {uint64_t{0}, rows / 2, rows - 2}) {
      for (const uint64_t column : {uint64_t{0}, columns - 1}) {
        ExpectReport(rows * columns, columns, GroupingKind::kAxis0, row * columns + column,
                     columns);
      }
    }
  }
  ExpectReport(40 * 1000, 1000, GroupingKind::kAxis0, 37 * 1000 + 999, 1000);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
