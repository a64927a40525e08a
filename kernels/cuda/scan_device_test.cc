// Scans by LaunchScan on device spans. Every operation, type and policy is judged on both engines
// by kernels/conformance; here it is where elements lie, how tiles meet, and what the launcher
// promises.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "kernels/conformance/float_trees.h"
#include "kernels/cuda/device_test.h"
#include "kernels/cuda/scan.h"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels::cuda {
namespace {

template <class Out>
struct ScanResult {
  absl::Status status;
  std::vector<Out> values;
  uint32_t overflow_flag = 0;
};

class ScanDeviceTest : public DeviceTest {
 protected:
  template <class Out>
  ScanResult<Out> Launch(const ScanPlan& plan, const void* elements, uint64_t misalignment = 0) {
    const DeviceArray<uint64_t> offsets{std::span(plan.grouping.offsets)};
    const DeviceArray<Out> results(plan.array.element_count, misalignment);
    const DeviceArray<uint32_t> flag(1);
    const DeviceArray<std::byte> memory(ScanScratchBytes(plan));
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    ScanResult<Out> result;
    result.status = LaunchScan(plan, {{elements, plan.array.element_count}, offsets.data()},
                               {{results.data(), results.size()}, flag.data()}, DeviceScanCarry{},
                               scratch, properties(), stream());
    Synchronize();
    result.values = results.Read();
    result.overflow_flag = flag.Read()[0];
    return result;
  }

  // `columns` 0: a vector.
  template <class Out, class T>
  ScanResult<Out> Scan(const std::vector<T>& values, ScanSpec spec, uint64_t columns = 0,
                       uint64_t misalignment = 0) {
    const ArrayDescription array =
        columns == 0
            ? ArrayDescription::Vector(kElementTypeOf<T>, values.size())
            : ArrayDescription::Matrix(kElementTypeOf<T>, values.size() / columns, columns);
    spec.output_type = kElementTypeOf<Out>;
    const absl::StatusOr<ScanPlan> plan = PlanScan(array, spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<T> elements{std::span(values), misalignment};
    return Launch<Out>(*plan, elements.data(), misalignment);
  }
};

template <class T>
std::vector<T> RandomIntegers(uint64_t count, int range, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> distribution(-range, range);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(distribution(random));
  return values;
}

// Of magnitudes so different that every change of the order of additions shows.
std::vector<float> RandomFloats(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-30, 30);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(std::exp2(exponent(random)) * (random() % 2 == 0 ? 1 : -1));
  }
  return values;
}

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

ScanSpec SpecOf(ScanMode mode, ScanDirection direction = ScanDirection::kForward) {
  ScanSpec spec;
  spec.mode = mode;
  spec.direction = direction;
  return spec;
}

std::vector<ScanSpec> ModesAndDirections() {
  std::vector<ScanSpec> specs;
  for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
    for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
      specs.push_back(SpecOf(mode, direction));
    }
  }
  return specs;
}

// Doubles whose bits are equal.
template <class T>
void ExpectSameBits(const std::vector<T>& actual, const std::vector<T>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  if (actual.empty()) return;
  const auto* a = reinterpret_cast<const unsigned char*>(actual.data());
  const auto* e = reinterpret_cast<const unsigned char*>(expected.data());
  const auto* const end = a + actual.size() * sizeof(T);
  const auto [difference, unused] = std::mismatch(a, end, e);
  EXPECT_TRUE(difference == end) << "elements differ from " << (difference - a) / sizeof(T)
                                 << " on";
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

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

TEST_F(ScanDeviceTest, ColumnsOfEveryShape) {
  for (const auto& [rows, columns] :
       {Extents{1, 1}, {255, 3}, {256, 3}, {257, 3}, {2500, 1}, {513, 1000}, {3, 70'000}}) {
    const auto values = RandomIntegers<int8_t>(rows * columns, 127, rows);
    for (ScanSpec spec : ModesAndDirections()) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
      spec.grouping.kind = GroupingKind::kAxis0;
      const auto result = Scan<int64_t>(values, spec, columns, 1);
      ASSERT_TRUE(result.status.ok()) << result.status;
      // Column by column, as vectors.
      for (uint64_t c = 0; c < columns; ++c) {
        std::vector<int8_t> column(rows);
        for (uint64_t r = 0; r < rows; ++r) column[r] = values[r * columns + c];
        const std::vector<int64_t> sums = LoopSums(column, HeadsEvery(rows, rows), spec);
        for (uint64_t r = 0; r < rows; ++r) {
          ASSERT_EQ(result.values[r * columns + c], sums[r]) << "row " << r << ", column " << c;
        }
      }
    }
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

TEST_F(ScanDeviceTest, FloatColumnsFollowTheTree) {
  constexpr uint64_t kRows = 2000;
  constexpr uint64_t kColumns = 33;
  const std::vector<float> values = RandomFloats(kRows * kColumns, 12);
  ScanSpec spec;
  spec.grouping.kind = GroupingKind::kAxis0;
  const auto result = Scan<double>(values, spec, kColumns);
  ASSERT_TRUE(result.status.ok()) << result.status;
  for (uint64_t c = 0; c < kColumns; ++c) {
    std::vector<double> column(kRows);
    std::vector<double> actual(kRows);
    for (uint64_t r = 0; r < kRows; ++r) {
      column[r] = values[r * kColumns + c];
      actual[r] = result.values[r * kColumns + c];
    }
    ExpectSameBits(actual, conformance::ScanColumnByTree(column, kColumns, {false}, false));
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
  for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0}) {
    ScanSpec spec;
    spec.grouping.kind = kind;
    const auto plan = PlanScan(ArrayDescription::Matrix(ElementType::kInt32, 1000, 1000), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<int32_t> elements(1'000'000);
    const DeviceArray<int64_t> results(1'000'000);
    const DeviceArray<uint32_t> flag(1);
    const DeviceArray<std::byte> memory(1024);
    Scratch scratch(memory.data(), memory.size());
    const absl::Status status = LaunchScan(*plan, {{elements.data(), 1'000'000}},
                                           {{results.data(), 1'000'000}, flag.data()},
                                           DeviceScanCarry{}, scratch, properties(), stream());
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    Synchronize();
  }
}

TEST_F(ScanDeviceTest, PositionsPass32Bits) {
  const uint64_t count = (uint64_t{1} << 31) + 12'345;
  if (FreeBytes() < 10 * count) GTEST_SKIP() << "not enough device memory";
  const DeviceArray<int8_t> elements(count);
  ASSERT_EQ(cudaMemset(elements.data(), 1, count), cudaSuccess);
  const DeviceArray<int64_t> results(count);
  const DeviceArray<uint32_t> flag(1);
  for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
    const auto plan = PlanScan(ArrayDescription::Vector(ElementType::kInt8, count),
                               SpecOf(ScanMode::kInclusive, direction));
    ASSERT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<std::byte> memory(ScanScratchBytes(*plan));
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    const absl::Status status =
        LaunchScan(*plan, {{elements.data(), count}}, {{results.data(), count}, flag.data()},
                   DeviceScanCarry{}, scratch, properties(), stream());
    ASSERT_TRUE(status.ok()) << status;
    Synchronize();
    // Where 31 bits end, and both ends of the array.
    std::vector<int64_t> slice(10'000);
    for (const uint64_t begin : {uint64_t{0}, (uint64_t{1} << 31) - 5000, count - slice.size()}) {
      ASSERT_EQ(cudaMemcpy(slice.data(), results.data() + begin, slice.size() * sizeof(int64_t),
                           cudaMemcpyDeviceToHost),
                cudaSuccess);
      for (uint64_t i = 0; i < slice.size(); ++i) {
        const uint64_t sum =
            direction == ScanDirection::kForward ? begin + i + 1 : count - begin - i;
        ASSERT_EQ(slice[i], static_cast<int64_t>(sum)) << "element " << begin + i;
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
