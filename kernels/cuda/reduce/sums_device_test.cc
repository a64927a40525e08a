// Sums of floating-point elements of many groups, of every shape that is laid out in its own way,
// against exact sums of other making; on data that pairs hold and on data that they do not.
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

template <class T>
T ElementOf(double x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x);
  } else {
    return T::FromFloat(static_cast<float>(x));
  }
}

enum class Data { kUniform, kWithZeros, kSomeTiny, kWide, kAnyBits, kCancelling, kNegativeZeros };
constexpr Data kAllData[] = {Data::kUniform, Data::kWithZeros,  Data::kSomeTiny,     Data::kWide,
                             Data::kAnyBits, Data::kCancelling, Data::kNegativeZeros};

// A finite number of any bits.
template <class T>
T AnyFinite(std::mt19937_64& random) {
  for (;;) {
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    const T x = std::bit_cast<T>(static_cast<Bits>(random()));
    if (std::isfinite(ToCompute(x))) return x;
  }
}

template <class T>
std::vector<T> Values(Data data, uint64_t count) {
  std::mt19937_64 random(count);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) {
    double x = unit(random);
    if (data == Data::kWithZeros && random() % 3 != 0) x = 0;
    if (data == Data::kSomeTiny && random() % 100 == 0) x = std::ldexp(x, -30);
    if (data == Data::kWide) x = std::ldexp(x, static_cast<int>(random() % 130) - 120);
    if (data == Data::kNegativeZeros) x = random() % 1000 == 0 ? 0.0 : -0.0;
    value = ElementOf<T>(x);
    if (data == Data::kAnyBits) value = AnyFinite<T>(random);
  }
  if (data == Data::kCancelling) {
    // Numbers far apart and their opposites: what is left is 0, or far below what cancels.
    for (uint64_t i = 0; i + 1 < count; i += 2) {
      values[i] = AnyFinite<T>(random);
      values[i + 1] = ElementOf<T>(-ToCompute(values[i]));
    }
  }
  return values;
}

template <class T>
class ReduceSumsDeviceTest : public ReduceDeviceTest {
 protected:
  // Sums of groups of `values`, which begin `misalignment` elements after an aligned address.
  std::vector<uint64_t> Sums(const ReductionPlan& plan, const std::vector<T>& values,
                             uint64_t misalignment, const DeviceProperties& assumed) {
    const DeviceArray<T> elements{std::span(values), misalignment};
    return Slots(plan, elements.data(), assumed);
  }

  // Statistics are sums and means.
  void ExpectExactSums(const ArrayDescription& array, const GroupingSpec& grouping,
                       const std::vector<Statistic>& statistics = {Statistic::kSum}) {
    const auto plan = PlanReduction(array, {.statistics = statistics, .grouping = grouping});
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const Data data : kAllData) {
      const std::vector<T> values = Values<T>(data, array.element_count);
      std::vector<conformance::ExactSum> sums(plan->grouping.group_count);
      std::vector<bool> is_negative_zero(sums.size(), true);
      ForEachElement(*plan, [&](uint64_t i, uint64_t group) {
        const double x = ToCompute(values[i]);
        sums[group].Add(x);
        if (x != 0 || !std::signbit(x)) is_negative_zero[group] = false;
      });
      std::vector<uint64_t> expected;
      for (const Statistic statistic : statistics) {
        for (size_t g = 0; g < sums.size(); ++g) {
          const uint64_t size = SizeOf(*plan, g);
          conformance::Dyadic value = sums[g].Value();
          if (statistic == Statistic::kMean) value = value.DividedBy(size);
          expected.push_back(
              std::bit_cast<uint64_t>(is_negative_zero[g] && size > 0 ? -0.0 : value.ToDouble()));
        }
      }
      for (const int multiprocessors : {1, 132}) {
        const DeviceProperties assumed = WithMultiprocessors(multiprocessors);
        for (const uint64_t misalignment : {uint64_t{0}, sizeof(T) < 8 ? 8 / sizeof(T) - 1 : 1}) {
          const std::vector<uint64_t> slots = Sums(*plan, values, misalignment, assumed);
          for (size_t i = 0; i < slots.size() && !testing::Test::HasFailure(); ++i) {
            EXPECT_EQ(slots[i], expected[i])
                << "slot " << i << " of " << sums.size() << " groups, data "
                << static_cast<int>(data) << ", misaligned by " << misalignment << ", "
                << multiprocessors << " multiprocessors";
          }
        }
      }
    }
  }

 private:
  static uint64_t SizeOf(const ReductionPlan& plan, size_t group) {
    if (plan.grouping.kind != GroupingKind::kSegments) return plan.grouping.group_size;
    return plan.grouping.offsets[group + 1] - plan.grouping.offsets[group];
  }
  template <class F>
  static void ForEachElement(const ReductionPlan& plan, F f) {
    const Grouping& grouping = plan.grouping;
    for (uint64_t g = 0; g < grouping.group_count; ++g) {
      if (grouping.kind == GroupingKind::kSegments) {
        for (uint64_t i = grouping.offsets[g]; i < grouping.offsets[g + 1]; ++i) f(i, g);
      } else {
        const bool down = grouping.kind == GroupingKind::kAxis0;
        for (uint64_t k = 0; k < grouping.group_size; ++k) {
          f(down ? k * grouping.group_count + g : g * grouping.group_size + k, g);
        }
      }
    }
  }
};
using Types = ::testing::Types<float, Float16, Bfloat16, double>;
TYPED_TEST_SUITE(ReduceSumsDeviceTest, Types);

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

TYPED_TEST(ReduceSumsDeviceTest, ColumnsAreExact) {
  for (const auto& [rows, columns] : {Extents{1, 3000},
                                      {4, 50'000},
                                      {64, 1001},
                                      {100, 4096},
                                      {73, 13'000},
                                      {65, 13'001},
                                      {3000, 1000},
                                      {2000, 132},
                                      {40'000, 8},
                                      {200'000, 1},
                                      {70'001, 3},
                                      {5000, 16}}) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    this->ExpectExactSums(ArrayDescription::Matrix(kElementTypeOf<TypeParam>, rows, columns),
                          {GroupingKind::kAxis0, {}});
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(ReduceSumsDeviceTest, RowsAreExact) {
  for (const auto& [rows, columns] : {Extents{50'000, 1},
                                      {40'001, 2},
                                      {40'000, 4},
                                      {40'000, 8},
                                      {30'000, 15},
                                      {20'001, 16},
                                      {9001, 32},
                                      {9001, 64},
                                      {5001, 128},
                                      {2501, 256},
                                      {3000, 300},
                                      {2500, 1024},
                                      {30, 20'000},
                                      {3, 65'536},
                                      {1, 1000},
                                      {1, 16'385},
                                      {1, 65'536},
                                      {1, 1'000'000},
                                      {3, 300'000}}) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    this->ExpectExactSums(ArrayDescription::Matrix(kElementTypeOf<TypeParam>, rows, columns),
                          {GroupingKind::kAxis1, {}});
    if (this->HasFailure()) return;
  }
}

// Where more than sums is asked for they are written in another way.
TYPED_TEST(ReduceSumsDeviceTest, SumsBesideMeansAreExact) {
  for (const auto& [rows, columns] :
       {Extents{4, 50'000}, {73, 13'000}, {3000, 40}, {9001, 64}, {40'001, 4}, {20'001, 16}}) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    for (const GroupingKind kind : {GroupingKind::kAxis0, GroupingKind::kAxis1}) {
      this->ExpectExactSums(ArrayDescription::Matrix(kElementTypeOf<TypeParam>, rows, columns),
                            {kind, {}}, {Statistic::kSum, Statistic::kMean});
    }
    if (this->HasFailure()) return;
  }
  GroupingSpec segments{GroupingKind::kSegments, {0}};
  for (uint64_t size = 1; size < 300; ++size) {
    segments.offsets.push_back(segments.offsets.back() + size);
  }
  this->ExpectExactSums(
      ArrayDescription::Vector(kElementTypeOf<TypeParam>, segments.offsets.back()), segments,
      {Statistic::kSum, Statistic::kMean});
}

TYPED_TEST(ReduceSumsDeviceTest, SegmentsAreExact) {
  std::mt19937_64 random(17);
  for (const uint64_t longest : {3, 32, 500, 9000}) {
    GroupingSpec grouping{GroupingKind::kSegments, {0}};
    while (grouping.offsets.size() < 4000 && grouping.offsets.back() < 1'000'000) {
      const uint64_t giant = random() % 500 == 0 ? 20'000 : 0;
      grouping.offsets.push_back(grouping.offsets.back() + random() % (longest + 1) + giant);
    }
    SCOPED_TRACE(testing::Message() << "segments of up to " << longest);
    this->ExpectExactSums(
        ArrayDescription::Vector(kElementTypeOf<TypeParam>, grouping.offsets.back()), grouping);
    if (this->HasFailure()) return;
  }
}

// Sizes around those that lanes, vectors, turns and a strip's window are made for, in every order.
TYPED_TEST(ReduceSumsDeviceTest, SegmentsOfEveryAlignmentAreExact) {
  constexpr uint64_t kTurn = StripTuning::kLaneVectors * ReduceTuning::kWarpThreads *
                             ReduceTuning::kVectorBytes / sizeof(TypeParam);
  std::mt19937_64 random(23);
  for (const uint64_t mean : {1, 7, 16, 33, 128, 400}) {
    GroupingSpec grouping{GroupingKind::kSegments, {0}};
    while (grouping.offsets.size() < 1500) {
      uint64_t size = mean;
      if (random() % 4 == 0) size = random() % 2;
      if (random() % 8 == 0) size = 4 * mean + random() % 9;
      if (random() % 100 == 0) size = kTurn - 1 + random() % 3;
      if (random() % 300 == 0) size = 1500 + random() % 3000;
      if (random() % 700 == 0) size = (16 << 10) - 1 + random() % 3;
      grouping.offsets.push_back(grouping.offsets.back() + size);
    }
    SCOPED_TRACE(testing::Message() << "segments of about " << mean);
    this->ExpectExactSums(
        ArrayDescription::Vector(kElementTypeOf<TypeParam>, grouping.offsets.back()), grouping);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(ReduceSumsDeviceTest, AVeryLongSegmentBesideEmptyOnesIsExact) {
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t size = i == 1000 ? 1'000'000 : i % 500 == 499 ? 5 : 0;
    grouping.offsets.push_back(grouping.offsets.back() + size);
  }
  this->ExpectExactSums(
      ArrayDescription::Vector(kElementTypeOf<TypeParam>, grouping.offsets.back()), grouping);
}

// Long segments whose elements fill what counts an element in as many bits as it has, beside short
// ones.
TYPED_TEST(ReduceSumsDeviceTest, LongSegmentsBesideShortOnesAreExact) {
  constexpr uint64_t kLong = 100'000;
  constexpr uint64_t kShort = 20;
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  for (uint64_t i = 0; i < 400; ++i) {
    grouping.offsets.push_back(grouping.offsets.back() + (i % 4 == 0 ? kLong : kShort));
  }
  const auto plan =
      PlanReduction(ArrayDescription::Vector(kElementTypeOf<TypeParam>, grouping.offsets.back()),
                    {.statistics = {Statistic::kSum}, .grouping = grouping});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const TypeParam value = ElementOf<TypeParam>(0x1.FEp0f);  // Which all types have.
  const std::vector<TypeParam> values(grouping.offsets.back(), value);
  const std::vector<uint64_t> slots = this->Sums(*plan, values, 0, this->properties());
  for (size_t g = 0; g < slots.size() && !this->HasFailure(); ++g) {
    const double size = static_cast<double>(g % 4 == 0 ? kLong : kShort);
    EXPECT_EQ(std::bit_cast<double>(slots[g]), size * 0x1.FEp0) << "segment " << g;
  }
}

TYPED_TEST(ReduceSumsDeviceTest, WhatIsSpecialStaysInItsSegment) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  for (uint64_t i = 0; i < 3000; ++i) {
    grouping.offsets.push_back(grouping.offsets.back() + 3 + i % 41);
  }
  const std::vector<uint64_t>& offsets = grouping.offsets;
  const auto plan =
      PlanReduction(ArrayDescription::Vector(kElementTypeOf<TypeParam>, offsets.back()),
                    {.statistics = {Statistic::kSum}, .grouping = grouping});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<TypeParam> values(offsets.back(), ElementOf<TypeParam>(1));
  std::vector<double> expected(offsets.size() - 1);
  for (uint64_t g = 0; g + 1 < offsets.size(); ++g) {
    TypeParam* const segment = &values[offsets[g]];
    const uint64_t size = offsets[g + 1] - offsets[g];
    expected[g] = static_cast<double>(size);
    if (g % 40 == 7) {
      segment[size - 1] = ElementOf<TypeParam>(kInfinity);
      expected[g] = kInfinity;
    } else if (g % 40 == 17) {
      segment[0] = ElementOf<TypeParam>(-kInfinity);
      expected[g] = -kInfinity;
    } else if (g % 40 == 20) {
      std::fill_n(segment, size, ElementOf<TypeParam>(-0.0f));
      expected[g] = -0.0;
    } else if (g % 40 == 27) {
      // What is left is far below what cancels.
      std::fill_n(segment, size, ElementOf<TypeParam>(0));
      segment[0] = ElementOf<TypeParam>(0x1p14f);
      segment[1] = ElementOf<TypeParam>(0x1p-20f);
      segment[size - 1] = ElementOf<TypeParam>(-0x1p14f);
      expected[g] = 0x1p-20;
    }
  }
  const std::vector<uint64_t> slots = this->Sums(*plan, values, 0, this->WithMultiprocessors(1));
  for (uint64_t g = 0; g < expected.size(); ++g) {
    EXPECT_EQ(slots[g], std::bit_cast<uint64_t>(expected[g])) << "segment " << g;
  }
}

TYPED_TEST(ReduceSumsDeviceTest, InfinitiesAndNansStayInTheirGroups) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& [rows, columns] :
       {Extents{5000, 4}, {3000, 40}, {100, 3000}, {4, 2000}, {80, 13'000}}) {
    const ArrayDescription array =
        ArrayDescription::Matrix(kElementTypeOf<TypeParam>, rows, columns);
    for (const GroupingKind kind : {GroupingKind::kAxis0, GroupingKind::kAxis1}) {
      const auto plan =
          PlanReduction(array, {.statistics = {Statistic::kSum}, .grouping = {kind, {}}});
      ASSERT_TRUE(plan.ok()) << plan.status();
      const uint64_t groups = plan->grouping.group_count;
      std::vector<TypeParam> values(rows * columns, ElementOf<TypeParam>(1));
      const auto element = [&](uint64_t group, uint64_t k) -> TypeParam& {
        return kind == GroupingKind::kAxis0 ? values[k * groups + group]
                                            : values[group * columns + k];
      };
      element(0, 1) = ElementOf<TypeParam>(kInfinity);
      element(2, 0) = ElementOf<TypeParam>(std::nanf(""));
      element(groups - 1, 2) = ElementOf<TypeParam>(-kInfinity);
      std::vector<double> expected(groups, static_cast<double>(plan->grouping.group_size));
      expected[0] = kInfinity;
      expected[groups - 1] = -kInfinity;
      for (const int multiprocessors : {1, 132}) {
        const std::vector<uint64_t> slots =
            this->Sums(*plan, values, 0, this->WithMultiprocessors(multiprocessors));
        for (uint64_t g = 0; g < groups; ++g) {
          const double sum = std::bit_cast<double>(slots[g]);
          if (g == 2) {
            EXPECT_TRUE(std::isnan(sum));
          } else {
            EXPECT_EQ(sum, expected[g]) << g << " of " << groups;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
