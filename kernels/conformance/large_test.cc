// Arrays of more than 2^31 elements, on the CUDA engine of a machine with room for them.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_specs.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr uint64_t kSize = (uint64_t{1} << 31) + 100'003;
constexpr uint64_t kLaneBytes = kSize + 4096;

uint64_t AvailableMemoryBytes() {
  return static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class LargeTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (IsSkipped()) return;
    // The array, a result of the same size, and what the lane pins.
    if (AvailableMemoryBytes() < 4 * kLaneBytes) {
      GTEST_SKIP() << "needs " << 4 * kLaneBytes << " bytes of free memory";
    }
    lane_.emplace(GetParam(), LaneOptions{.input_bytes_max = kLaneBytes,
                                          .output_bytes_max = kLaneBytes,
                                          .bin_count_max = 1 << 20,
                                          .group_count_max = 1 << 20});
    // A pattern of 251 values, -125 to 125; one larger and one smaller number near the end.
    elements_.resize(kSize);
    for (uint64_t i = 0; i < kPeriod; ++i) elements_[i] = static_cast<int8_t>(i) - 125;
    for (uint64_t done = kPeriod; done < kSize; done *= 2) {
      std::memcpy(&elements_[done], elements_.data(), std::min(done, kSize - done));
    }
    elements_[kLargestAt] = 127;
    elements_[kSmallestAt] = -128;
  }

  HostSpan span() const {
    return {reinterpret_cast<const std::byte*>(elements_.data()), elements_.size()};
  }
  Lane& lane() { return lane_->lane(); }

  // How often value v of the pattern occurs.
  uint64_t CountOf(int v) const {
    return static_cast<uint64_t>(std::count(elements_.begin(), elements_.end(), v));
  }

  static constexpr uint64_t kPeriod = 251;
  static constexpr uint64_t kLargestAt = kSize - 5;
  static constexpr uint64_t kSmallestAt = kSize - 90'000;
  const ArrayDescription description_ = ArrayDescription::Vector(ElementType::kInt8, kSize);
  std::vector<int8_t> elements_;
  RunStatistics statistics_;

 private:
  std::optional<EngineUnderTest> lane_;
};

TEST_P(LargeTest, Reduction) {
  const auto plan = PlanReduction(
      description_, SpecOf({Statistic::kCount, Statistic::kSum, Statistic::kArgmax,
                            Statistic::kArgmin, Statistic::kNonzeroCount, Statistic::kL1Norm}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto result = lane().RunReduction(*plan, span(), std::stop_token(), statistics_);
  ASSERT_TRUE(result.ok()) << result.status();
  int64_t sum = 0;
  uint64_t magnitudes = 0;
  for (const int8_t x : elements_) {
    sum += x;
    magnitudes += static_cast<uint64_t>(x < 0 ? -x : x);
  }
  const auto slot = [&](int s) { return result->columns[s].slots[0]; };
  EXPECT_EQ(slot(0), kSize);
  EXPECT_EQ(static_cast<int64_t>(slot(1)), sum);
  EXPECT_EQ(slot(2), kLargestAt);
  EXPECT_EQ(slot(3), kSmallestAt);
  EXPECT_EQ(slot(4), kSize - CountOf(0));
  EXPECT_EQ(std::bit_cast<double>(slot(5)), static_cast<double>(magnitudes));
}

TEST_P(LargeTest, Histogram) {
  const auto plan = PlanHistogram(description_, SpecOfBins(IntegerBinsSpec{-128, 256}), 1 << 20);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto result = lane().RunHistogram(*plan, {span(), {}, {}}, std::stop_token(), statistics_);
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<uint64_t> counts(256);
  for (const int8_t x : elements_) ++counts[static_cast<size_t>(x + 128)];
  EXPECT_EQ(result->channels[0].counts, counts);
}

TEST_P(LargeTest, Scan) {
  ScanSpec spec;
  spec.output_type = ElementType::kInt8;
  spec.overflow_policy = OverflowPolicy::kWrap;
  const auto plan = PlanScan(description_, spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<int8_t> output(kSize);
  const MutableHostSpan target{reinterpret_cast<std::byte*>(output.data()), output.size()};
  const absl::Status status = lane().RunScan(*plan, span(), target, std::stop_token(), statistics_);
  ASSERT_TRUE(status.ok()) << status;
  uint8_t running = 0;
  for (uint64_t i = 0; i < kSize; ++i) {
    running = static_cast<uint8_t>(running + static_cast<uint8_t>(elements_[i]));
    ASSERT_EQ(static_cast<uint8_t>(output[i]), running) << i;
  }
}

// The CPU engine has no 32-bit index to overflow in a device's registers, and CI has no such
// memory.
INSTANTIATE_TEST_SUITE_P(Cuda, LargeTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
