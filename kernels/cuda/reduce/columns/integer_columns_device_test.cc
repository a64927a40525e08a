// Sums and several statistics along axis 0 of integers against states that the host makes element
// by element, of every shape that is laid out in its own way.
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/reduce_device_test.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {
namespace {

enum class Data { kAnyBits, kFewValues, kLeast, kGreatest };
constexpr Data kAllData[] = {Data::kAnyBits, Data::kFewValues, Data::kLeast, Data::kGreatest};

template <class T>
std::vector<T> Values(Data data, uint64_t rows, uint64_t columns) {
  std::mt19937_64 random(rows);
  std::vector<T> values(rows * columns);
  for (T& x : values) {
    switch (data) {
      case Data::kAnyBits: x = static_cast<T>(random()); break;
      case Data::kFewValues: x = static_cast<T>(random() % 4 / 3 * (random() % 5)); break;
      case Data::kLeast: x = std::numeric_limits<T>::min(); break;
      case Data::kGreatest: x = std::numeric_limits<T>::max(); break;
    }
  }
  return values;
}

const std::vector<Statistic> kSeveral = {
    Statistic::kSum,    Statistic::kMin,    Statistic::kMax,      Statistic::kArgmin,
    Statistic::kArgmax, Statistic::kMean,   Statistic::kVariance, Statistic::kNonzeroCount,
    Statistic::kAny,    Statistic::kL2Norm, Statistic::kAll};

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

// Of one multiprocessor a warp has whole columns from 12,288 bytes in a row on, or fewer.
constexpr Extents kExtents[] = {{1, 1},      {1, 5},       {2, 4},       {3, 1000},    {15, 64},
                                {16, 64},    {17, 64},     {100'003, 1}, {70'001, 2},  {70'001, 3},
                                {70'000, 4}, {20'001, 8},  {6000, 65},   {600, 1000},  {601, 1001},
                                {500, 1024}, {40, 12'800}, {5, 13'001},  {33, 13'001}, {32, 6500}};

template <class T>
class ReduceIntegerColumnsDeviceTest : public ReduceDeviceTest {
 protected:
  static absl::StatusOr<ReductionPlan> Plan(uint64_t rows, uint64_t columns,
                                            const std::vector<Statistic>& statistics,
                                            OverflowPolicy overflow) {
    return PlanReduction(ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns),
                         {.statistics = statistics,
                          .grouping = {GroupingKind::kAxis0, {}},
                          .overflow_policy = overflow});
  }

  void ExpectColumns(const std::vector<T>& values, uint64_t columns,
                     const std::vector<Statistic>& statistics) {
    const uint64_t rows = values.size() / columns;
    std::vector<ReductionState<T, kCorePartSet>> states(columns);
    for (uint64_t i = 0; i < values.size(); ++i) {
      states[i % columns].Add(values[i], i / columns, false);
    }
    const auto plan = Plan(rows, columns, statistics, OverflowPolicy::kWrap);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const int multiprocessors : {1, 132}) {
      for (const uint64_t misalignment : {0, 1, 3}) {
        const DeviceArray<T> elements{std::span(values), misalignment};
        const std::vector<uint64_t> slots =
            Slots(*plan, elements.data(), WithMultiprocessors(multiprocessors));
        for (uint64_t i = 0; i < slots.size(); ++i) {
          uint64_t expected = 0;
          StatisticValue(statistics[i / columns], states[i % columns], rows, {.wrap = true},
                         &expected);
          ASSERT_EQ(slots[i], expected) << StatisticName(statistics[i / columns]) << " of column "
                                        << i % columns << ", misaligned by " << misalignment << ", "
                                        << multiprocessors << " multiprocessors";
        }
      }
    }
  }
};

using Types =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(ReduceIntegerColumnsDeviceTest, Types);

TYPED_TEST(ReduceIntegerColumnsDeviceTest, AreAsTheHostHasThem) {
  for (const auto& [rows, columns] : kExtents) {
    for (const Data data : kAllData) {
      SCOPED_TRACE(testing::Message()
                   << rows << " rows of " << columns << ", data " << static_cast<int>(data));
      const std::vector<TypeParam> values = Values<TypeParam>(data, rows, columns);
      this->ExpectColumns(values, columns, {Statistic::kSum});
      this->ExpectColumns(values, columns, kSeveral);
      if (this->HasFailure()) return;
    }
  }
}

// Of equal extremes the first counts, wherever the rows of a column are taken.
TYPED_TEST(ReduceIntegerColumnsDeviceTest, ExtremesAreFoundInEveryRow) {
  for (const auto& [rows, columns] : {Extents{300, 3}, {300, 300}, {200, 7000}}) {
    std::vector<TypeParam> values(rows * columns, 5);
    for (uint64_t c = 0; c < columns; ++c) {
      const uint64_t first = c * 7 % rows;
      values[first * columns + c] = 4;
      values[(first + 19) % rows * columns + c] = 6;
      values[(rows - 1 - first / 3) * columns + c] = c % 2 == 0 ? 4 : 6;
    }
    this->ExpectColumns(values, columns, {Statistic::kArgmin, Statistic::kArgmax, Statistic::kSum});
  }
}

TYPED_TEST(ReduceIntegerColumnsDeviceTest, OverflowIsReported) {
  constexpr uint64_t kRows = 1000;
  constexpr uint64_t kColumns = 5;
  std::vector<TypeParam> values(kRows * kColumns, 0);
  for (uint64_t r = 0; r < kRows; ++r) {
    values[r * kColumns + 3] = std::numeric_limits<TypeParam>::max();
  }
  const auto plan = this->Plan(kRows, kColumns, {Statistic::kSum}, OverflowPolicy::kError);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const DeviceArray<TypeParam> elements{std::span(values)};
  const DeviceReduction result = this->Launch(*plan, elements.data());
  EXPECT_EQ(result.failures[0], sizeof(TypeParam) == 8 ? 3u : kNoFailure);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
