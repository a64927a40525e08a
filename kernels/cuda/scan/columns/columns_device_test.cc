// Scans along axis 0 by LaunchScan on device spans: how tiles and blocks of tiles meet in narrow
// and in wide matrices, and where elements lie.
#include <cmath>
#include <numeric>
#include <random>

#include "gtest/gtest.h"
#include "kernels/conformance/float_trees.h"
#include "kernels/cuda/scan/columns/shape.h"
#include "kernels/cuda/scan/scan_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

class ScanColumnsDeviceTest : public ScanDeviceTest {};

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

// Runs, tiles and blocks of tiles that end, that end early, and that go on by a row.
std::vector<Extents> ExtentsAtEdges() {
  return {{1, 1},       {1, 70'000},  {3, 70'000},  {64, 1000},   {65, 1000},  {255, 33}, {256, 33},
          {257, 33},    {513, 1000},  {8191, 20},   {8192, 20},   {8193, 20},  {2500, 1}, {8191, 1},
          {8193, 1},    {2047, 4},    {2048, 4},    {2049, 4},    {65'537, 4}, {4097, 2}, {2049, 3},
          {1025, 5},    {1024, 7},    {1023, 8},    {513, 9},     {513, 15},   {513, 16}, {257, 17},
          {16'500, 31}, {300'000, 1}, {140'000, 4}, {40'000, 16}, {30'000, 64}};
}

std::string Describe(const Extents& extents, uint64_t misalignment) {
  return std::to_string(extents.rows) + " rows of " + std::to_string(extents.columns) +
         ", misaligned by " + std::to_string(misalignment);
}

// A column in the order of the scan.
template <class T>
std::vector<T> LogicalColumn(const std::vector<T>& values, const Extents& extents, uint64_t column,
                             ScanDirection direction) {
  std::vector<T> logical(extents.rows);
  for (uint64_t p = 0; p < extents.rows; ++p) {
    const uint64_t row = direction == ScanDirection::kReverse ? extents.rows - 1 - p : p;
    logical[p] = values[row * extents.columns + column];
  }
  return logical;
}

template <class T>
class ScanColumnsOfIntegersTest : public ScanDeviceTest {};
using SignedIntegers = ::testing::Types<int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(ScanColumnsOfIntegersTest, SignedIntegers);

TYPED_TEST(ScanColumnsOfIntegersTest, EveryShapeModeAndDirection) {
  for (const Extents& extents : ExtentsAtEdges()) {
    const auto values = RandomIntegers<TypeParam>(extents.rows * extents.columns, 100, 31);
    for (ScanSpec spec : ModesAndDirections()) {
      spec.grouping.kind = GroupingKind::kAxis0;
      for (const uint64_t misalignment : {0, 1}) {
        SCOPED_TRACE(Describe(extents, misalignment));
        const auto result =
            this->template Scan<int64_t>(values, spec, extents.columns, misalignment);
        ASSERT_TRUE(result.status.ok()) << result.status;
        EXPECT_EQ(result.overflow_flag, 0);
        for (uint64_t c = 0; c < extents.columns; ++c) {
          const auto actual = LogicalColumn(result.values, extents, c, spec.direction);
          int64_t sum = 0;
          uint64_t row = 0;
          for (const int64_t x : LogicalColumn(values, extents, c, spec.direction)) {
            const int64_t before = sum;
            sum += x;
            ASSERT_EQ(actual[row], spec.mode == ScanMode::kExclusive ? before : sum)
                << "row " << row << ", column " << c;
            ++row;
          }
        }
      }
    }
  }
}

TEST_F(ScanColumnsDeviceTest, FloatsFollowTheTree) {
  for (const Extents& extents : ExtentsAtEdges()) {
    const std::vector<float> values = RandomFloats(extents.rows * extents.columns, 12);
    for (ScanSpec spec : ModesAndDirections()) {
      SCOPED_TRACE(Describe(extents, 0));
      spec.grouping.kind = GroupingKind::kAxis0;
      const auto result = Scan<double>(values, spec, extents.columns);
      ASSERT_TRUE(result.status.ok()) << result.status;
      for (uint64_t c = 0; c < extents.columns; ++c) {
        const auto column = LogicalColumn(values, extents, c, spec.direction);
        ExpectSameBits(
            LogicalColumn(result.values, extents, c, spec.direction),
            conformance::ScanColumnByTree({column.begin(), column.end()}, extents.columns, {false},
                                          spec.mode == ScanMode::kExclusive));
        if (HasFailure()) return;
      }
    }
  }
}

// Of as many columns as keep one multiprocessor busy: tall ones, with several blocks of tiles.
TEST_F(ScanColumnsDeviceTest, WholeColumnsFollowTheTree) {
  multiprocessors_told_ = 1;
  ASSERT_TRUE(WholeColumnsSuffice(2048 / 4, 4 * sizeof(float), multiprocessors_told_));
  for (const Extents& extents :
       {Extents{65, 2051}, {8192, 2048}, {8193, 2049}, {3 * 8192 + 700, 2048}}) {
    const std::vector<float> values = RandomFloats(extents.rows * extents.columns, 13);
    for (ScanSpec spec : ModesAndDirections()) {
      spec.grouping.kind = GroupingKind::kAxis0;
      for (const uint64_t misalignment : {0, 1}) {
        SCOPED_TRACE(Describe(extents, misalignment));
        const auto result = Scan<double>(values, spec, extents.columns, misalignment);
        ASSERT_TRUE(result.status.ok()) << result.status;
        for (uint64_t c = 0; c < extents.columns; c += 31) {
          const auto column = LogicalColumn(values, extents, c, spec.direction);
          ExpectSameBits(
              LogicalColumn(result.values, extents, c, spec.direction),
              conformance::ScanColumnByTree({column.begin(), column.end()}, extents.columns,
                                            {false}, spec.mode == ScanMode::kExclusive));
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Strips of two columns a lane.
TEST_F(ScanColumnsDeviceTest, LongRowsFollowTheTree) {
  for (const Extents& extents : {Extents{700, 1024}, {9000, 1027}, {513, 8192}, {300, 8195}}) {
    const std::vector<float> floats = RandomFloats(extents.rows * extents.columns, 16);
    const auto integers = RandomIntegers<int32_t>(extents.rows * extents.columns, 1000, 17);
    for (ScanSpec spec : ModesAndDirections()) {
      spec.grouping.kind = GroupingKind::kAxis0;
      const bool is_exclusive = spec.mode == ScanMode::kExclusive;
      for (const uint64_t misalignment : {0, 1}) {
        SCOPED_TRACE(Describe(extents, misalignment));
        const auto sums = Scan<float>(floats, spec, extents.columns, misalignment);
        const auto counts = Scan<int32_t>(integers, spec, extents.columns, misalignment);
        ASSERT_TRUE(sums.status.ok()) << sums.status;
        ASSERT_TRUE(counts.status.ok()) << counts.status;
        EXPECT_EQ(counts.overflow_flag, 0);
        for (uint64_t c = 0; c < extents.columns; c += 7) {
          const auto column = LogicalColumn(floats, extents, c, spec.direction);
          const auto tree = conformance::ScanColumnByTree({column.begin(), column.end()},
                                                          extents.columns, {false}, is_exclusive);
          ExpectSameBits(LogicalColumn(sums.values, extents, c, spec.direction),
                         {tree.begin(), tree.end()});
          std::vector<int32_t> expected = LogicalColumn(integers, extents, c, spec.direction);
          if (is_exclusive) {
            std::exclusive_scan(expected.begin(), expected.end(), expected.begin(), 0);
          } else {
            std::inclusive_scan(expected.begin(), expected.end(), expected.begin());
          }
          ExpectSameBits(LogicalColumn(counts.values, extents, c, spec.direction), expected);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Strips that wait for those beside them, of which some or all are the same block's.
TEST_F(ScanColumnsDeviceTest, NeighboursOfFewBlocks) {
  for (const int multiprocessors : {1, 2, 3}) {
    multiprocessors_told_ = multiprocessors;
    for (const Extents& extents : {Extents{20'000, 33}, {30'000, 100}, {9000, 500}, {9000, 1001}}) {
      SCOPED_TRACE(Describe(extents, 0) + " on " + std::to_string(multiprocessors));
      const std::vector<float> floats = RandomFloats(extents.rows * extents.columns, 18);
      const std::vector<double> doubles(floats.begin(), floats.end());
      ScanSpec spec;
      spec.grouping.kind = GroupingKind::kAxis0;
      const auto narrow = Scan<float>(floats, spec, extents.columns);
      const auto widened = Scan<double>(floats, spec, extents.columns);
      const auto wide = Scan<double>(doubles, spec, extents.columns);
      for (uint64_t c = 0; c < extents.columns; c += 3) {
        const auto expected = conformance::ScanColumnByTree(
            LogicalColumn(doubles, extents, c, spec.direction), extents.columns, {false}, false);
        ExpectSameBits(LogicalColumn(wide.values, extents, c, spec.direction), expected);
        ExpectSameBits(LogicalColumn(widened.values, extents, c, spec.direction), expected);
        ExpectSameBits(LogicalColumn(narrow.values, extents, c, spec.direction),
                       {expected.begin(), expected.end()});
        if (HasFailure()) return;
      }
    }
  }
}

// So many turns for each block of threads that all places in its shared memory are taken again.
TEST_F(ScanColumnsDeviceTest, PlacesAreTakenAgain) {
  multiprocessors_told_ = 2;
  for (const Extents& extents :
       {Extents{200'000, 2}, {100'001, 4}, {50'000, 16}, {30'000, 24}, {20'003, 32}, {9000, 100}}) {
    const std::vector<float> floats = RandomFloats(extents.rows * extents.columns, 15);
    const std::vector<double> doubles(floats.begin(), floats.end());
    for (ScanSpec spec : ModesAndDirections()) {
      spec.grouping.kind = GroupingKind::kAxis0;
      for (const uint64_t misalignment : {0, 1}) {
        SCOPED_TRACE(Describe(extents, misalignment));
        const auto narrow = Scan<float>(floats, spec, extents.columns, misalignment);
        const auto wide = Scan<double>(doubles, spec, extents.columns, misalignment);
        const auto widened = Scan<double>(floats, spec, extents.columns, misalignment);
        ASSERT_TRUE(narrow.status.ok()) << narrow.status;
        ASSERT_TRUE(wide.status.ok()) << wide.status;
        ASSERT_TRUE(widened.status.ok()) << widened.status;
        for (uint64_t c = 0; c < extents.columns; ++c) {
          const auto column = LogicalColumn(doubles, extents, c, spec.direction);
          const auto expected = conformance::ScanColumnByTree(column, extents.columns, {false},
                                                              spec.mode == ScanMode::kExclusive);
          ExpectSameBits(LogicalColumn(wide.values, extents, c, spec.direction), expected);
          ExpectSameBits(LogicalColumn(widened.values, extents, c, spec.direction), expected);
          ExpectSameBits(LogicalColumn(narrow.values, extents, c, spec.direction),
                         {expected.begin(), expected.end()});
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(ScanColumnsDeviceTest, NansAreIgnoredOrStayInTheirColumn) {
  const Extents extents{3000, 40};
  std::vector<float> values(extents.rows * extents.columns, 1);
  values[100 * extents.columns + 7] = NAN;
  ScanSpec spec;
  spec.grouping.kind = GroupingKind::kAxis0;
  for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
    spec.nan_policy = policy;
    const auto result = Scan<float>(values, spec, extents.columns);
    ASSERT_TRUE(result.status.ok()) << result.status;
    for (uint64_t i = 0; i < values.size(); ++i) {
      const uint64_t row = i / extents.columns;
      const bool is_behind = i % extents.columns == 7 && row >= 100;
      if (is_behind && policy == NanPolicy::kPropagate) {
        ASSERT_TRUE(std::isnan(result.values[i])) << i;
      } else {
        ASSERT_EQ(result.values[i], static_cast<float>(row + 1 - (is_behind ? 1 : 0))) << i;
      }
    }
  }
}

// Many tiles in one strip, whose blocks wait for each other most of the time.
TEST_F(ScanColumnsDeviceTest, EveryRunHasTheSameBits) {
  for (const uint64_t columns : {1, 4, 16, 24, 32, 1000}) {
    const std::vector<float> values = RandomFloats(16'000'000 / columns * columns, 14);
    ScanSpec spec;
    spec.grouping.kind = GroupingKind::kAxis0;
    const auto first = Scan<double>(values, spec, columns);
    for (int run = 0; run < 10; ++run) {
      SCOPED_TRACE(testing::Message() << columns << " columns");
      ExpectSameBits(Scan<double>(values, spec, columns).values, first.values);
      if (HasFailure()) return;
    }
  }
}

TEST_F(ScanColumnsDeviceTest, OnlyResultsThatDoNotFitSetTheFlag) {
  for (const Extents& extents : {Extents{60, 5}, {3000, 5}, {3000, 40}, {70'000, 2}}) {
    // All sums fit but the one that includes the last element of one column.
    std::vector<int8_t> values(extents.rows * extents.columns, 0);
    values[1] = 100;
    values[(extents.rows - 1) * extents.columns + 1] = 100;
    ScanSpec spec;
    spec.grouping.kind = GroupingKind::kAxis0;
    SCOPED_TRACE(Describe(extents, 0));
    EXPECT_EQ(Scan<int8_t>(values, spec, extents.columns).overflow_flag, 1);
    EXPECT_EQ(Scan<int64_t>(values, spec, extents.columns).overflow_flag, 0);
    ScanSpec exclusive = spec;
    exclusive.mode = ScanMode::kExclusive;
    EXPECT_EQ(Scan<int8_t>(values, exclusive, extents.columns).overflow_flag, 0);
    spec.overflow_policy = OverflowPolicy::kWrap;
    const auto wrapped = Scan<int8_t>(values, spec, extents.columns);
    EXPECT_EQ(wrapped.overflow_flag, 0);
    EXPECT_EQ(wrapped.values[(extents.rows - 1) * extents.columns + 1], -56);
  }
}

TEST_F(ScanColumnsDeviceTest, PositionsPass32Bits) {
  const uint64_t count_max = (uint64_t{1} << 31) + 20'000'000;
  if (FreeBytes() < 10 * count_max) GTEST_SKIP() << "not enough device memory";
  const DeviceArray<int8_t> elements(count_max);
  ASSERT_EQ(cudaMemset(elements.data(), 1, count_max), cudaSuccess);
  const DeviceArray<int64_t> results(count_max);
  for (const uint64_t columns : {uint64_t{4}, uint64_t{1000}, count_max / 3}) {
    ScanSpec spec;
    spec.grouping.kind = GroupingKind::kAxis0;
    const auto plan =
        PlanScan(ArrayDescription::Matrix(ElementType::kInt8, count_max / columns, columns), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ExpectScanOfOnes(*plan, elements, results, [&](uint64_t i) { return i / columns + 1; });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
