// Reductions of which every warp takes so many turns that blocks take batches of them
// (reduce/core/turn_deal.cuh).
#include <bit>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/reduce_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

// The answer that is this integer, of elements of type T.
template <class T>
uint64_t SlotOf(int64_t value) {
  return FloatingElement<T> ? std::bit_cast<uint64_t>(static_cast<double>(value))
                            : static_cast<uint64_t>(value);
}

// Of a whole array.
template <class T>
class ReduceLongArrayTest : public ReduceDeviceTest {
 protected:
  void ExpectEveryElementOnce(uint64_t count, const DeviceProperties& assumed) {
    const uint64_t least = count / 2;
    const uint64_t greatest = count - 2;
    std::vector<T> values(count);
    int64_t sum = 0;
    uint64_t nonzero = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const int value = i == least ? -50 : i == greatest ? 50 : static_cast<int>(i % 61) - 30;
      values[i] = FromDouble<T>(value);
      sum += value;
      nonzero += value != 0 ? 1 : 0;
    }
    const DeviceArray<T> elements{std::span(values), 1};
    const struct {
      std::vector<Statistic> statistics;
      std::vector<uint64_t> expected;
    } sets[] = {
        {{Statistic::kSum}, {SlotOf<T>(sum)}},
        {{Statistic::kMin, Statistic::kArgmax}, {SlotOf<T>(-50), greatest}},
        {{Statistic::kSum, Statistic::kArgmin, Statistic::kMax, Statistic::kNonzeroCount},
         {SlotOf<T>(sum), least, SlotOf<T>(50), nonzero}},
    };
    for (const auto& set : sets) {
      const auto plan = PlanReduction(ArrayDescription::Vector(kElementTypeOf<T>, count),
                                      {.statistics = set.statistics, .grouping = {}});
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(Slots(*plan, elements.data(), assumed), set.expected)
          << set.statistics.size() << " statistics";
    }
  }
};
using LongArrayTypes = ::testing::Types<int8_t, int32_t, int64_t, Float16, float, double>;
TYPED_TEST_SUITE(ReduceLongArrayTest, LongArrayTypes);

TYPED_TEST(ReduceLongArrayTest, EveryElementCountsOnce) {
  this->ExpectEveryElementOnce((uint64_t{200} << 20) / sizeof(TypeParam) + 1'001,
                               this->properties());
}

TYPED_TEST(ReduceLongArrayTest, OfTwoBlocks) {
  this->ExpectEveryElementOnce((uint64_t{3} << 20) / sizeof(TypeParam) + 1'001,
                               this->WithMultiprocessors(2));
}

// The same along axis 0, of columns that one warp takes, and of two tiles of warps side by side.
template <class T>
class ReduceLongColumnsTest : public ReduceDeviceTest {
 protected:
  void ExpectEveryElementOnce(uint64_t bytes, uint64_t columns, const DeviceProperties& assumed) {
    const uint64_t rows = bytes / sizeof(T) / columns + 13;
    std::vector<T> values(rows * columns);
    std::vector<Expected> of_columns(columns);
    for (uint64_t i = 0; i < values.size(); ++i) {
      const int value = static_cast<int>(i % 61) - 30 + (i % 60'013 == 0 ? 30 : 0);
      values[i] = FromDouble<T>(value);
      of_columns[i % columns].Add(value, i / columns);
    }
    const DeviceArray<T> elements{std::span(values), 1};
    const std::vector<Statistic> sets[] = {
        {Statistic::kSum},
        {Statistic::kMin, Statistic::kArgmax},
        {Statistic::kSum, Statistic::kArgmin, Statistic::kMax, Statistic::kNonzeroCount}};
    for (const std::vector<Statistic>& statistics : sets) {
      const auto plan =
          PlanReduction(ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns),
                        {.statistics = statistics, .grouping = {GroupingKind::kAxis0, {}}});
      ASSERT_TRUE(plan.ok()) << plan.status();
      std::vector<uint64_t> expected;
      for (const Statistic statistic : statistics) {
        for (const Expected& column : of_columns) {
          expected.push_back(statistic == Statistic::kSum      ? SlotOf<T>(column.sum)
                             : statistic == Statistic::kMin    ? SlotOf<T>(column.min)
                             : statistic == Statistic::kMax    ? SlotOf<T>(column.max)
                             : statistic == Statistic::kArgmin ? column.argmin
                             : statistic == Statistic::kArgmax ? column.argmax
                                                               : column.nonzero);
        }
      }
      EXPECT_EQ(Slots(*plan, elements.data(), assumed), expected)
          << statistics.size() << " statistics of " << columns << " columns";
    }
  }
};
TYPED_TEST_SUITE(ReduceLongColumnsTest, LongArrayTypes);

TYPED_TEST(ReduceLongColumnsTest, EveryElementCountsOnce) {
  this->ExpectEveryElementOnce(uint64_t{200} << 20, 4, this->properties());
  this->ExpectEveryElementOnce(uint64_t{200} << 20, 100, this->properties());
}

TYPED_TEST(ReduceLongColumnsTest, OfThreeBlocks) {
  this->ExpectEveryElementOnce(uint64_t{6} << 20, 4, this->WithMultiprocessors(3));
  this->ExpectEveryElementOnce(uint64_t{6} << 20, 100, this->WithMultiprocessors(3));
}

}  // namespace
}  // namespace gridfold::kernels::cuda
