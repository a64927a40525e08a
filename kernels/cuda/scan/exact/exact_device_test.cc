// Exact scans by LaunchScan on device spans. What they answer is judged on both engines by
// kernels/conformance; here it is where elements lie, how tiles, chunks and links of tiles meet,
// and what the launcher promises.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/cuda/lane/device_test.h"
#include "kernels/cuda/scan/scan.h"

namespace gridfold::kernels::cuda {
namespace {

// float32 numbers whose sums cancel, of sizes that spread over 2 * `range` powers of two.
std::vector<float> RandomFloats(uint64_t count, int range, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const double fraction = 1 + static_cast<double>(random() % (1 << 23)) * 0x1p-23;
    const int exponent = static_cast<int>(random() % (2 * range)) - range;
    value = static_cast<float>(std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent));
  }
  return values;
}

class ScanExactDeviceTest : public DeviceTest {
 protected:
  // `columns` 0: a vector. Results are of float64.
  std::vector<double> Scan(const std::vector<float>& values, ScanSpec spec, uint64_t columns = 0,
                           uint64_t misalignment = 0) {
    spec.exact = true;
    spec.output_type = ElementType::kFloat64;
    const ArrayDescription array =
        columns == 0
            ? ArrayDescription::Vector(ElementType::kFloat32, values.size())
            : ArrayDescription::Matrix(ElementType::kFloat32, values.size() / columns, columns);
    const auto plan = PlanScan(array, spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    EXPECT_STREQ(ScanStrategy(*plan), "scan/exact");
    const DeviceArray<float> elements{std::span(values), misalignment};
    const DeviceArray<uint64_t> offsets{std::span(plan->grouping.offsets)};
    const DeviceArray<double> results(values.size(), misalignment);
    const DeviceArray<uint32_t> flag(1);
    // Not a byte more than was promised.
    const DeviceArray<std::byte> memory(ScanScratchBytes(*plan));
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    const absl::Status status =
        LaunchScan(*plan, {{elements.data(), values.size()}, offsets.data()},
                   {{results.data(), values.size()}, flag.data()}, DeviceScanCarry{}, scratch,
                   properties(), stream());
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(scratch.used_bytes(), memory.size());
    Synchronize();
    EXPECT_EQ(flag.Read()[0], 0);
    return results.Read();
  }
};

// The elements of one group in the order of the scan, and what to expect of some of them.
void CheckGroup(const std::vector<float>& values, const std::vector<double>& results,
                const ScanSpec& spec, uint64_t start, uint64_t stride, uint64_t count,
                uint64_t check_every = 1) {
  conformance::ExactSum sum;
  for (uint64_t p = 0; p < count; ++p) {
    const uint64_t place = spec.direction == ScanDirection::kReverse ? count - 1 - p : p;
    const uint64_t i = start + place * stride;
    const bool exclusive = spec.mode == ScanMode::kExclusive;
    const bool check = p % check_every == 0 || p % 4096 < 2;
    const double before = check ? sum.Value().ToDouble() : 0;
    sum.Add(values[i]);
    if (check) {
      ASSERT_EQ(results[i], exclusive ? before : sum.Value().ToDouble()) << "element " << i;
    }
  }
}

std::vector<ScanSpec> ModesAndDirections() {
  std::vector<ScanSpec> specs(4);
  for (size_t i = 0; i < specs.size(); ++i) {
    specs[i].mode = i % 2 == 0 ? ScanMode::kInclusive : ScanMode::kExclusive;
    specs[i].direction = i / 2 == 0 ? ScanDirection::kForward : ScanDirection::kReverse;
  }
  return specs;
}

// Magnitudes of 60 powers of two fit the window of a tile; those of 200 do not.
constexpr int kNarrow = 30;
constexpr int kWide = 100;

TEST_F(ScanExactDeviceTest, EveryLengthAlignmentModeAndDirection) {
  for (const uint64_t count : {1, 15, 16, 17, 511, 513, 4095, 4096, 4097, 20'000}) {
    for (const int range : {kNarrow, kWide}) {
      const std::vector<float> values = RandomFloats(count, range, count);
      for (const ScanSpec& spec : ModesAndDirections()) {
        for (const uint64_t misalignment : {0, 1, 3}) {
          SCOPED_TRACE(testing::Message() << count << " elements, misaligned by " << misalignment);
          CheckGroup(values, Scan(values, spec, 0, misalignment), spec, 0, 1, count, 31);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Tiles by the thousand: their sums are carried over in links of 256, and those again.
TEST_F(ScanExactDeviceTest, ManyLinksOfTiles) {
  const uint64_t count = uint64_t{4096} * 256 * 9 + 4097;
  for (const int range : {kNarrow, kWide}) {
    const std::vector<float> values = RandomFloats(count, range, 21);
    for (const ScanSpec& spec : ModesAndDirections()) {
      CheckGroup(values, Scan(values, spec), spec, 0, 1, count, 5003);
      if (HasFailure()) return;
    }
  }
}

TEST_F(ScanExactDeviceTest, RowsOfEverySize) {
  for (const uint64_t columns : {1, 3, 16, 17, 4095, 4096, 4097, 70'000}) {
    const uint64_t rows = 30'000 / columns + 2;
    const std::vector<float> values = RandomFloats(rows * columns, kNarrow, columns);
    for (ScanSpec spec : ModesAndDirections()) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
      spec.grouping.kind = GroupingKind::kAxis1;
      const std::vector<double> results = Scan(values, spec, columns, 1);
      for (uint64_t r = 0; r < rows; ++r) {
        CheckGroup(values, results, spec, r * columns, 1, columns, 17);
      }
      if (HasFailure()) return;
    }
  }
}

// Sums of many groups are carried over many tiles and links: groups start in some of them.
TEST_F(ScanExactDeviceTest, SegmentsAcrossLinks) {
  std::vector<uint64_t> offsets = {0, 0, 1, 4095, 4096, 4096, 4097, 9000, 2'000'000};
  std::mt19937_64 random(7);
  while (offsets.back() < 2'600'000) offsets.push_back(offsets.back() + random() % 9000);
  const uint64_t count = offsets.back();
  const std::vector<float> values = RandomFloats(count, kNarrow, 22);
  for (ScanSpec spec : ModesAndDirections()) {
    spec.grouping = {GroupingKind::kSegments, offsets};
    const std::vector<double> results = Scan(values, spec);
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
      CheckGroup(values, results, spec, offsets[s], 1, offsets[s + 1] - offsets[s], 997);
    }
    if (HasFailure()) return;
  }
}

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

// The last ones have more chunks than a link takes.
TEST_F(ScanExactDeviceTest, ColumnsOfEveryShape) {
  for (const auto& [rows, columns] :
       {Extents{1, 1}, {511, 3}, {512, 3}, {513, 3}, {1025, 300}, {3, 70'000}, {140'000, 2}}) {
    for (const int range : {kNarrow, kWide}) {
      const std::vector<float> values = RandomFloats(rows * columns, range, rows);
      for (ScanSpec spec : ModesAndDirections()) {
        SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
        spec.grouping.kind = GroupingKind::kAxis0;
        const std::vector<double> results = Scan(values, spec, columns, 1);
        for (uint64_t c = 0; c < columns; ++c) {
          CheckGroup(values, results, spec, c, columns, rows, 211);
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
