#include <bit>
#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "kernels/cuda/histogram/compact.h"
#include "kernels/cuda/lane/device_test.h"

namespace gridfold::kernels::cuda {
namespace {

class CompactDeviceTest : public DeviceTest {
 protected:
  // Compacts `words` and expects what a loop with `is_zero` leaves of them.
  template <class IsZero>
  void Check(const std::vector<uint64_t>& words, WordKind kind, IsZero&& is_zero) {
    const DeviceArray<uint64_t> input{std::span(words)};
    const DeviceArray<uint64_t> values(words.size());
    const DeviceArray<uint64_t> indices(words.size());
    const DeviceArray<uint64_t> count(1);
    const DeviceArray<std::byte> memory(CompactScratchBytes(words.size()));
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    const absl::Status status = LaunchCompact(input.data(), words.size(), kind,
                                              {values.data(), indices.data(), count.data()},
                                              scratch, properties(), stream());
    ASSERT_TRUE(status.ok()) << status;
    Synchronize();

    std::vector<uint64_t> expected_values;
    std::vector<uint64_t> expected_indices;
    for (uint64_t i = 0; i < words.size(); ++i) {
      if (is_zero(words[i])) continue;
      expected_values.push_back(words[i]);
      expected_indices.push_back(i);
    }
    ASSERT_EQ(count.Read()[0], expected_values.size());
    std::vector<uint64_t> actual_values = values.Read();
    std::vector<uint64_t> actual_indices = indices.Read();
    actual_values.resize(expected_values.size());
    actual_indices.resize(expected_values.size());
    EXPECT_EQ(actual_values, expected_values);
    EXPECT_EQ(actual_indices, expected_indices);
  }
};

TEST_F(CompactDeviceTest, EverySizeAndDensity) {
  std::mt19937_64 random(1);
  for (const uint64_t count : {0, 1, 7, 8, 9, 255, 2047, 2048, 2049, 100'000, 1'000'003}) {
    for (const uint64_t one_in : {1, 2, 100, 1'000'000'000}) {
      SCOPED_TRACE(testing::Message() << count << " words, one in " << one_in << " not zero");
      std::vector<uint64_t> words(count);
      for (uint64_t& word : words) word = random() % one_in == 0 ? random() | 1 : 0;
      Check(words, WordKind::kInteger, [](uint64_t word) { return word == 0; });
      if (HasFailure()) return;
    }
  }
}

TEST_F(CompactDeviceTest, ZerosOfFloatsHaveTwoSigns) {
  std::vector<uint64_t> words;
  for (const double x : {0.0, -0.0, 1.0, -1.0, 5e-324, std::nan(""), -HUGE_VAL, -0.0, 2.0}) {
    words.push_back(std::bit_cast<uint64_t>(x));
  }
  const auto is_zero = [](uint64_t word) { return std::bit_cast<double>(word) == 0; };
  Check(words, WordKind::kFloat64, is_zero);
  Check(words, WordKind::kInteger, [](uint64_t word) { return word == 0; });
}

}  // namespace
}  // namespace gridfold::kernels::cuda
