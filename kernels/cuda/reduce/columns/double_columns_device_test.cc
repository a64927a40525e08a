// Sums along axis 0 of float64 elements against exact sums of other making, of every shape that is
// laid out in its own way, on data that ReduceDoubleColumns takes and on data that it leaves.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

enum class Data { kNormal, kTies, kWithZeros, kSomeTiny, kWide, kCancelling, kNegativeZeros };
constexpr Data kAllData[] = {Data::kNormal, Data::kTies,       Data::kWithZeros,    Data::kSomeTiny,
                             Data::kWide,   Data::kCancelling, Data::kNegativeZeros};

std::vector<double> Values(Data data, uint64_t rows, uint64_t columns) {
  std::mt19937_64 random(rows);
  std::normal_distribution<double> normal;
  std::vector<double> values(rows * columns);
  for (uint64_t i = 0; i < values.size(); ++i) {
    double x = normal(random);
    if (data == Data::kTies) x = i % 2 == 0 ? 1 + 0x1p-52 : 0x1p-30;
    if (data == Data::kWithZeros && random() % 3 != 0) x = 0;
    // In some columns, so that others of their tiles are as usual.
    if (data == Data::kSomeTiny && i % columns % 50 == 7) x = std::ldexp(x, -200);
    if (data == Data::kWide) x = std::ldexp(x, static_cast<int>(random() % 2000) - 1000);
    if (data == Data::kNegativeZeros) x = i % columns % 70 == 3 || random() % 9 == 0 ? -0.0 : x;
    // Rows and their opposites: what is left is 0, or far below what cancels.
    if (data == Data::kCancelling && i / columns % 2 == 1) {
      x = -values[i - columns] + (i % columns % 3 == 0 ? 0x1p-40 : 0);
    }
    values[i] = x;
  }
  return values;
}

class ReduceDoubleColumnsDeviceTest : public ReduceDeviceTest {
 protected:
  std::vector<uint64_t> Sums(const std::vector<double>& values, uint64_t columns,
                             uint64_t misalignment, const DeviceProperties& assumed,
                             const std::vector<Statistic>& statistics = {Statistic::kSum}) {
    const auto plan = PlanReduction(
        ArrayDescription::Matrix(ElementType::kFloat64, values.size() / columns, columns),
        {.statistics = statistics, .grouping = {GroupingKind::kAxis0, {}}});
    EXPECT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<double> elements{std::span(values), misalignment};
    return Slots(*plan, elements.data(), assumed);
  }

  // Sums alone, and means before sums.
  void ExpectExactSums(Data data, uint64_t rows, uint64_t columns) {
    const std::vector<double> values = Values(data, rows, columns);
    std::vector<conformance::ExactSum> sums(columns);
    std::vector<bool> is_negative_zero(columns, true);
    for (uint64_t i = 0; i < values.size(); ++i) {
      sums[i % columns].Add(values[i]);
      const bool is = std::bit_cast<uint64_t>(values[i]) == std::bit_cast<uint64_t>(-0.0);
      if (!is) is_negative_zero[i % columns] = false;
    }
    std::vector<uint64_t> expected_means;
    std::vector<uint64_t> expected_sums;
    for (uint64_t c = 0; c < columns; ++c) {
      const conformance::Dyadic sum = sums[c].Value();
      const auto rounded = [&](const conformance::Dyadic& value) {
        return std::bit_cast<uint64_t>(is_negative_zero[c] ? -0.0 : value.ToDouble());
      };
      expected_means.push_back(rounded(sum.DividedBy(rows)));
      expected_sums.push_back(rounded(sum));
    }
    std::vector<uint64_t> expected_of_both = expected_means;
    expected_of_both.insert(expected_of_both.end(), expected_sums.begin(), expected_sums.end());
    for (const int multiprocessors : {1, 132}) {
      for (const uint64_t misalignment : {0, 1}) {
        SCOPED_TRACE(testing::Message()
                     << "data " << static_cast<int>(data) << ", misaligned by " << misalignment
                     << ", " << multiprocessors << " multiprocessors");
        const DeviceProperties assumed = WithMultiprocessors(multiprocessors);
        EXPECT_EQ(FirstDifference(Sums(values, columns, misalignment, assumed), expected_sums),
                  kNone);
        EXPECT_EQ(FirstDifference(Sums(values, columns, misalignment, assumed,
                                       {Statistic::kMean, Statistic::kSum}),
                                  expected_of_both),
                  kNone);
        if (HasFailure()) return;
      }
    }
  }

 private:
  static constexpr size_t kNone = ~size_t{0};
  static size_t FirstDifference(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    const auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return first == a.end() && second == b.end() ? kNone : static_cast<size_t>(first - a.begin());
  }
};

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

// All of kDoubleColumnBytesMin and more, but for the last.
constexpr Extents kExtents[] = {{600'000, 1}, {530'001, 1}, {200'001, 3}, {140'000, 4}, {5000, 128},
                                {9001, 64},   {530, 1001},  {129, 4097},  {8, 70'000},  {9, 70'001},
                                {65, 13'000}, {7, 80'000},  {1000, 3}};

TEST_F(ReduceDoubleColumnsDeviceTest, SumsAreExact) {
  for (const auto& [rows, columns] : kExtents) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    for (const Data data : kAllData) ExpectExactSums(data, rows, columns);
    if (HasFailure()) return;
  }
}

TEST_F(ReduceDoubleColumnsDeviceTest, InfinitiesAndNansStayInTheirColumns) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns] : {Extents{140'000, 4}, {5000, 128}, {9, 70'000}}) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    std::vector<double> values(rows * columns, 1);
    values[columns] = kInfinity;
    values[2] = std::nan("");
    values[(rows - 1) * columns + 3] = -kInfinity;
    for (const int multiprocessors : {1, 132}) {
      const std::vector<uint64_t> slots =
          Sums(values, columns, 0, WithMultiprocessors(multiprocessors));
      EXPECT_EQ(std::bit_cast<double>(slots[0]), kInfinity);
      EXPECT_EQ(std::bit_cast<double>(slots[3]), -kInfinity);
      EXPECT_TRUE(std::isnan(std::bit_cast<double>(slots[2])));
      for (uint64_t c = 4; c < columns; ++c) {
        ASSERT_EQ(std::bit_cast<double>(slots[c]), static_cast<double>(rows)) << "column " << c;
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
