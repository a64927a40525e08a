// Scans by LaunchScan on device spans. Every operation, type and policy is judged on both engines
// by kernels/conformance; here it is where elements lie, how tiles meet, and what the launcher
// promises.
#include "kernels/cuda/scan/scan_device_test.h"

#include <random>

#include "gtest/gtest.h"
#include "kernels/conformance/float_trees.h"

namespace gridfold::kernels::cuda {
namespace {

// Running sums of groups given by their heads, at logical positions turned back into elements.
template <class T>
std::vector<int64_t> LoopSums(const std::vector<T>& values, const std::vector<bool>& heads,
                              const ScanSpec& spec) {
  const uint64_t count = values.size();
  const bool reverse = spec.direction == ScanDirection::kReverse;
  std::vector<int64_t> sums(count);
  int64_t sum = 0;
  for (uint64_t p = 0; p < count; ++p) {
    const uint64_t i = reverse ? count - 1 - p : p;
    if (heads[p]) sum = 0;
    if (spec.mode == ScanMode::kExclusive) sums[i] = sum;
    sum += values[i];
    if (spec.mode == ScanMode::kInclusive) sums[i] = sum;
  }
  return sums;
}

std::vector<bool> HeadsEvery(uint64_t group_size, uint64_t count) {
  std::vector<bool> heads(count);
  for (uint64_t p = 0; p < count; p += group_size) heads[p] = true;
  return heads;
}

template <class T>
class ScanMisalignedTest : public ScanDeviceTest {};
using SignedIntegers = ::testing::Types<int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(ScanMisalignedTest, SignedIntegers);

TYPED_TEST(ScanMisalignedTest, EveryLengthAlignmentModeAndDirection) {
  for (const uint64_t count : {1, 2, 15, 16, 17, 31, 32, 33, 511, 512, 513, 4095, 4096, 4097, 8192,
                               131'072, 131'073, 300'001}) {
    const auto values = RandomIntegers<TypeParam>(count, 100, count);
    for (const ScanSpec& spec : ModesAndDirections()) {
      for (const uint64_t misalignment : {0, 1, 3}) {
        SCOPED_TRACE(testing::Message() << count << " elements, misaligned by " << misalignment);
        const auto result = this->template Scan<int64_t>(values, spec, 0, misalignment);
        ASSERT_TRUE(result.status.ok()) << result.status;
        EXPECT_EQ(result.overflow_flag, 0);
        ExpectSameBits(result.values, LoopSums(values, HeadsEvery(count, count), spec));
        if (this->HasFailure()) return;
      }
    }
  }
}

TEST_F(ScanDeviceTest, RowsOfEverySize) {
  for (const uint64_t columns : {1, 2, 3, 15, 16, 17, 100, 4095, 4096, 4097, 9000, 70'000}) {
    const uint64_t rows = 150'000 / columns + 2;
    const auto values = RandomIntegers<int16_t>(rows * columns, 30'000, columns);
    for (ScanSpec spec : ModesAndDirections()) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
      spec.grouping.kind = GroupingKind::kAxis1;
      const auto result = Scan<int64_t>(values, spec, columns, 1);
      ASSERT_TRUE(result.status.ok()) << result.status;
      ExpectSameBits(result.values, LoopSums(values, HeadsEvery(columns, values.size()), spec));
      if (HasFailure()) return;
    }
  }
}

TEST_F(ScanDeviceTest, SegmentsWithEmptyOnesAndTileEdges) {
  const uint64_t count = 200'000;
  std::vector<uint64_t> offsets = {0,    0,    0,    1,    2,       2,      4095,
                                   4096, 4096, 4097, 8192, 131'072, 131'072};
  std::mt19937_64 random(7);
  while (offsets.back() < 190'000) offsets.push_back(offsets.back() + random() % 300);
  offsets.insert(offsets.end(), 1000, offsets.back());
  offsets.insert(offsets.end(), {count, count, count});
  const auto values = RandomIntegers<int32_t>(count, 1'000'000, 8);
  for (ScanSpec spec : ModesAndDirections()) {
    std::vector<bool> heads(count);
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
      if (offsets[s] == offsets[s + 1]) continue;
      const bool reverse = spec.direction == ScanDirection::kReverse;
      heads[reverse ? count - offsets[s + 1] : offsets[s]] = true;
    }
    spec.grouping = {GroupingKind::kSegments, offsets};
    const auto result = Scan<int64_t>(values, spec);
    ASSERT_TRUE(result.status.ok()) << result.status;
    ExpectSameBits(result.values, LoopSums(values, heads, spec));
  }
}

TEST_F(ScanDeviceTest, FloatsFollowTheTree) {
  for (const uint64_t count : {1, 17, 4097, 131'071, 131'073, 600'000, 4'200'000}) {
    const std::vector<float> values = RandomFloats(count, count);
    const std::vector<double> numbers(values.begin(), values.end());
    for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
      SCOPED_TRACE(testing::Message() << count << " elements");
      const auto result = Scan<double>(values, SpecOf(mode));
      ASSERT_TRUE(result.status.ok()) << result.status;
      ExpectSameBits(result.values, conformance::ScanByTree(numbers, HeadsEvery(count, count),
                                                            {false}, mode == ScanMode::kExclusive));
    }
  }
}

TEST_F(ScanDeviceTest, EveryRunHasTheSameBits) {
  const std::vector<float> values = RandomFloats(10'000'019, 13);
  const auto first = Scan<double>(values, {});
  for (int run = 0; run < 20; ++run) ExpectSameBits(Scan<double>(values, {}).values, first.values);
}

TEST_F(ScanDeviceTest, OnlyResultsThatDoNotFitSetTheFlag) {
  // All sums fit but the one that includes the last element.
  for (const uint64_t count : {2, 4096, 4097, 9000}) {
    std::vector<int8_t> values(count, 0);
    values.front() = 100;
    values.back() = 100;
    EXPECT_EQ(Scan<int8_t>(values, {}).overflow_flag, 1) << count;
    EXPECT_EQ(Scan<int64_t>(values, {}).overflow_flag, 0) << count;
    EXPECT_EQ(Scan<int8_t>(values, SpecOf(ScanMode::kExclusive)).overflow_flag, 0) << count;
    ScanSpec wrap;
    wrap.overflow_policy = OverflowPolicy::kWrap;
    const auto wrapped = Scan<int8_t>(values, wrap);
    EXPECT_EQ(wrapped.overflow_flag, 0) << count;
    EXPECT_EQ(wrapped.values.back(), -56) << count;
  }
}

TEST_F(ScanDeviceTest, NoElementsAreNoWork) {
  const auto result = Scan<int64_t>(std::vector<int32_t>{}, {});
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.overflow_flag, 0);
}

TEST_F(ScanDeviceTest, TooLittleScratchIsAnError) {
  const DeviceArray<float> elements(1'000'000);
  const DeviceArray<float> results(1'000'000);
  const DeviceArray<uint32_t> flag(1);
  const DeviceArray<std::byte> memory(1024);
  for (const bool exact : {false, true}) {
    for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0}) {
      ScanSpec spec;
      spec.grouping.kind = kind;
      spec.exact = exact;
      const auto plan = PlanScan(ArrayDescription::Matrix(ElementType::kFloat32, 1000, 1000), spec);
      ASSERT_TRUE(plan.ok()) << plan.status();
      Scratch scratch(memory.data(), memory.size());
      const absl::Status status = LaunchScan(*plan, {{elements.data(), 1'000'000}},
                                             {{results.data(), 1'000'000}, flag.data()},
                                             DeviceScanCarry{}, scratch, properties(), stream());
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted)
          << (exact ? "exact: " : "plain: ") << status;
      Synchronize();
    }
  }
}

TEST_F(ScanDeviceTest, PositionsPass32Bits) {
  const uint64_t count = (uint64_t{1} << 31) + 12'345;
  if (FreeBytes() < 10 * count) GTEST_SKIP() << "not enough device memory";
  const DeviceArray<int8_t> elements(count);
  ASSERT_EQ(cudaMemset(elements.data(), 1, count), cudaSuccess);
  const DeviceArray<int64_t> results(count);
  for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
    const auto plan = PlanScan(ArrayDescription::Vector(ElementType::kInt8, count),
                               SpecOf(ScanMode::kInclusive, direction));
    ASSERT_TRUE(plan.ok()) << plan.status();
    ExpectScanOfOnes(*plan, elements, results, [&](uint64_t i) {
      return direction == ScanDirection::kForward ? i + 1 : count - i;
    });
    if (HasFailure()) return;
  }
  for (const uint64_t columns : {uint64_t{3}, uint64_t{4099}, count / 2}) {
    ScanSpec spec;
    spec.grouping.kind = GroupingKind::kAxis1;
    const auto plan =
        PlanScan(ArrayDescription::Matrix(ElementType::kInt8, count / columns, columns), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ExpectScanOfOnes(*plan, elements, results, [&](uint64_t i) { return i % columns + 1; });
    if (HasFailure()) return;
  }
}

TEST_F(ScanDeviceTest, SizesOfRowsPass31Bits) {
  const uint64_t columns = uint64_t{1} << 31;
  const uint64_t count = 2 * columns;  // The most that a scan takes.
  if (FreeBytes() < 10 * count) GTEST_SKIP() << "not enough device memory";
  const DeviceArray<int8_t> elements(count);
  ASSERT_EQ(cudaMemset(elements.data(), 1, count), cudaSuccess);
  const DeviceArray<int64_t> results(count);
  ScanSpec spec;
  spec.grouping.kind = GroupingKind::kAxis1;
  const auto plan = PlanScan(ArrayDescription::Matrix(ElementType::kInt8, 2, columns), spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ExpectScanOfOnes(*plan, elements, results, [&](uint64_t i) { return i % columns + 1; });
}

}  // namespace
}  // namespace gridfold::kernels::cuda
