// Reductions by LaunchReduction on device spans, against plain loops on the host. The numbers'
// finer points are judged on both engines by kernels/conformance; here it is where elements lie,
// how they are shared out, and what the launcher promises.
#include "kernels/cuda/reduce/reduce_device_test.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "kernels/numerics/arithmetic/product_tree.h"

namespace gridfold::kernels::cuda {
namespace {

const std::vector<Statistic> kManyStatistics = {Statistic::kSum,    Statistic::kMin,
                                                Statistic::kArgmin, Statistic::kMax,
                                                Statistic::kArgmax, Statistic::kNonzeroCount};

// Compares the slots of group `group` of `groups`.
void ExpectGroup(const DeviceReduction& result, uint64_t group, uint64_t groups,
                 const Expected& expected) {
  const auto slot = [&](uint64_t row) { return result.slots[row * groups + group]; };
  EXPECT_EQ(static_cast<int64_t>(slot(0)), expected.sum) << "sum of group " << group;
  EXPECT_EQ(static_cast<int64_t>(slot(1)), expected.min) << "min of group " << group;
  EXPECT_EQ(slot(2), expected.argmin) << "argmin of group " << group;
  EXPECT_EQ(static_cast<int64_t>(slot(3)), expected.max) << "max of group " << group;
  EXPECT_EQ(slot(4), expected.argmax) << "argmax of group " << group;
  EXPECT_EQ(slot(5), expected.nonzero) << "nonzero count of group " << group;
}

template <class T>
std::vector<T> RandomValues(uint64_t count, int range, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> distribution(-range, range);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(distribution(random));
  return values;
}

// Elements of every size, which cancel: any order but that of the integers would show.
template <class T>
std::vector<T> WideValues(uint64_t count) {
  std::mt19937_64 random(count);
  std::uniform_int_distribution<int> exponent(-60, 60);
  std::uniform_real_distribution<double> significand(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) {
    value = static_cast<T>(std::ldexp(significand(random), exponent(random)));
  }
  return values;
}

template <class T>
class ReduceGridTest : public ReduceDeviceTest {};
using FloatingTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ReduceGridTest, FloatingTypes);

// The grid and the shared memory of a block follow from the device: as many blocks as
// multiprocessors, and as many threads as have room for their words.
TYPED_TEST(ReduceGridTest, EveryGridGivesTheSameBits) {
  const std::vector<Statistic> statistics = {Statistic::kSum, Statistic::kVariance,
                                             Statistic::kL1Norm, Statistic::kArgmin,
                                             Statistic::kNonzeroCount};
  const std::vector<TypeParam> values = WideValues<TypeParam>(1'000'003);
  const DeviceArray<TypeParam> elements{std::span(values)};
  std::vector<uint64_t> offsets = {0, 5, 400'000, 400'001, 999'000, values.size()};
  const struct {
    ArrayDescription array;
    GroupingSpec grouping;
  } shapes[] = {
      {ArrayDescription::Vector(kElementTypeOf<TypeParam>, values.size()), {}},
      {ArrayDescription::Vector(kElementTypeOf<TypeParam>, values.size()),
       {GroupingKind::kSegments, offsets}},
      {ArrayDescription::Matrix(kElementTypeOf<TypeParam>, 3, 333'334), {GroupingKind::kAxis1, {}}},
      {ArrayDescription::Matrix(kElementTypeOf<TypeParam>, 333'334, 3), {GroupingKind::kAxis0, {}}},
  };
  for (const auto& shape : shapes) {
    for (const auto& wanted : {std::vector{Statistic::kSum}, statistics}) {
      const auto plan =
          PlanReduction(shape.array, {.statistics = wanted, .grouping = shape.grouping});
      ASSERT_TRUE(plan.ok()) << plan.status();
      const DeviceReduction expected = this->Launch(*plan, elements.data());
      ASSERT_TRUE(expected.status.ok()) << expected.status;
      for (const int multiprocessors : {1, 2, 7, 61, 1000}) {
        for (const int shared_bytes : {100 * 1024, 227 * 1024}) {
          DeviceProperties assumed = this->WithMultiprocessors(multiprocessors);
          assumed.shared_bytes_per_block_max = shared_bytes;
          const DeviceReduction result = this->Launch(*plan, elements.data(), assumed);
          ASSERT_TRUE(result.status.ok()) << result.status;
          EXPECT_EQ(result.slots, expected.slots)
              << multiprocessors << " multiprocessors, " << shared_bytes << " bytes";
        }
      }
    }
  }
}

// As much as words hold: the largest elements, as many as a thread is given.
TEST_F(ReduceDeviceTest, LargestFloat16Elements) {
  constexpr uint64_t kCount = 20'000'001;
  constexpr double kLargest = 65504;
  const std::vector<Float16> values(kCount, std::bit_cast<Float16>(uint16_t{0x7BFF}));
  const DeviceArray<Float16> elements{std::span(values)};
  const auto plan = PlanReduction(ArrayDescription::Vector(ElementType::kFloat16, kCount),
                                  {.statistics = {Statistic::kSum}, .grouping = {}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const int multiprocessors : {1, 3, 132}) {
    const DeviceReduction result =
        Launch(*plan, elements.data(), WithMultiprocessors(multiprocessors));
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(std::bit_cast<double>(result.slots[0]), kLargest * kCount) << multiprocessors;
  }
}

template <class T>
class ReduceMisalignedTest : public ReduceDeviceTest {};
using SignedIntegers = ::testing::Types<int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(ReduceMisalignedTest, SignedIntegers);

TYPED_TEST(ReduceMisalignedTest, EveryLengthAndAlignmentGivesTheSameAsALoop) {
  for (const uint64_t count :
       {1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 20'000, 300'001}) {
    const std::vector<TypeParam> values = RandomValues<TypeParam>(count, 100, count);
    Expected expected;
    for (uint64_t i = 0; i < count; ++i) expected.Add(values[i], i);
    for (uint64_t misalignment = 0; misalignment < 16 / sizeof(TypeParam); ++misalignment) {
      SCOPED_TRACE(testing::Message() << count << " elements, misaligned by " << misalignment);
      const DeviceReduction result =
          this->Reduce(values, {.statistics = kManyStatistics, .grouping = {}}, misalignment);
      ASSERT_TRUE(result.status.ok()) << result.status;
      ExpectGroup(result, 0, 1, expected);
      if (this->HasFailure()) return;
    }
  }
}

template <class T>
class ReduceIntegersTest : public ReduceDeviceTest {
 protected:
  static constexpr uint64_t kCount = uint64_t{1} << 21;  // A power of two: divisions are exact.

  // Mean and variance of kCount elements; few multiprocessors take many turns each.
  void ExpectMoments(const std::vector<T>& values, double mean, double variance) {
    const auto plan =
        PlanReduction(ArrayDescription::Vector(kElementTypeOf<T>, kCount),
                      {.statistics = {Statistic::kMean, Statistic::kVariance, Statistic::kArgmin,
                                      Statistic::kArgmax, Statistic::kNonzeroCount},
                       .grouping = {}});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto least = std::ranges::min_element(values);
    const auto greatest = std::ranges::max_element(values);
    const DeviceArray<T> elements{std::span(values), 1};
    for (const int multiprocessors : {1, 132}) {
      const DeviceReduction result =
          Launch(*plan, elements.data(), WithMultiprocessors(multiprocessors));
      ASSERT_TRUE(result.status.ok()) << result.status;
      EXPECT_EQ(std::bit_cast<double>(result.slots[0]), mean);
      EXPECT_EQ(std::bit_cast<double>(result.slots[1]), variance);
      EXPECT_EQ(result.slots[2], static_cast<uint64_t>(least - values.begin()));
      EXPECT_EQ(result.slots[3], static_cast<uint64_t>(greatest - values.begin()));
      EXPECT_EQ(result.slots[4], kCount - std::ranges::count(values, T{0}));
    }
  }
};
using Integers =
    ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ReduceIntegersTest, Integers);

TYPED_TEST(ReduceIntegersTest, MomentsOfTheLimitsAreExact) {
  constexpr TypeParam kLeast = std::numeric_limits<TypeParam>::min();
  constexpr TypeParam kGreatest = std::numeric_limits<TypeParam>::max();
  std::vector<TypeParam> values(this->kCount, kLeast);
  this->ExpectMoments(values, static_cast<double>(kLeast), 0);
  values.assign(this->kCount, kGreatest);
  this->ExpectMoments(values, static_cast<double>(kGreatest), 0);
  for (uint64_t i = 0; i < this->kCount; i += 2) values[i] = kLeast;
  const auto range = static_cast<unsigned __int128>(kGreatest) - kLeast;
  const double mean = std::is_signed_v<TypeParam> ? -0.5 : static_cast<double>(kGreatest) / 2;
  this->ExpectMoments(values, mean, static_cast<double>(range * range) / 4);
}

TYPED_TEST(ReduceIntegersTest, MomentsAreThoseOfALoop) {
  std::mt19937_64 random(sizeof(TypeParam));
  std::vector<TypeParam> values(this->kCount);
  __int128 sum = 0;
  unsigned __int128 squares = 0;
  for (TypeParam& value : values) {
    // 64-bit elements of 40 bits: the sums below fit.
    const int64_t bits = static_cast<int64_t>(random());
    value =
        sizeof(TypeParam) == 8 ? static_cast<TypeParam>(bits >> 24) : static_cast<TypeParam>(bits);
    if (std::is_unsigned_v<TypeParam> && sizeof(TypeParam) == 8) value &= (uint64_t{1} << 40) - 1;
    sum += value;
    squares += static_cast<unsigned __int128>(static_cast<__int128>(value) * value);
  }
  const auto spread = squares * this->kCount - static_cast<unsigned __int128>(sum * sum);
  const double count = static_cast<double>(this->kCount);
  this->ExpectMoments(values, static_cast<double>(sum) / count,
                      static_cast<double>(spread) / count / count);
}

struct Extents {
  uint64_t rows;
  uint64_t columns;
};

// Wide, tall, square, odd, single rows and columns; above and below a tile's and a split's size.
const Extents kExtents[] = {{1, 1},     {1, 1000},   {1000, 1},    {3, 5},     {33, 31},
                            {257, 129}, {5, 40'000}, {100'000, 3}, {700, 700}, {20'000, 17}};

TEST_F(ReduceDeviceTest, AxesGiveTheSameAsLoops) {
  for (const auto& [rows, columns] : kExtents) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << columns);
    const std::vector<int16_t> values = RandomValues<int16_t>(rows * columns, 30'000, rows);
    std::vector<Expected> by_column(columns);
    std::vector<Expected> by_row(rows);
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t c = 0; c < columns; ++c) {
        by_column[c].Add(values[r * columns + c], r);
        by_row[r].Add(values[r * columns + c], c);
      }
    }
    ReductionSpec spec{.statistics = kManyStatistics, .grouping = {GroupingKind::kAxis0, {}}};
    const DeviceReduction down = Reduce(values, spec, 1, columns);
    for (uint64_t c = 0; c < columns; ++c) ExpectGroup(down, c, columns, by_column[c]);
    spec.grouping.kind = GroupingKind::kAxis1;
    const DeviceReduction across = Reduce(values, spec, 1, columns);
    for (uint64_t r = 0; r < rows; ++r) ExpectGroup(across, r, rows, by_row[r]);
    if (HasFailure()) return;
  }
}

void ExpectSegments(const std::vector<int32_t>& values, const std::vector<uint64_t>& offsets,
                    const DeviceReduction& result) {
  ASSERT_TRUE(result.status.ok()) << result.status;
  const uint64_t groups = offsets.size() - 1;
  for (uint64_t g = 0; g < groups && !testing::Test::HasFailure(); ++g) {
    Expected expected;
    for (uint64_t i = offsets[g]; i < offsets[g + 1]; ++i) expected.Add(values[i], i - offsets[g]);
    ExpectGroup(result, g, groups, expected);
  }
}

TEST_F(ReduceDeviceTest, RaggedSegmentsOfAllMeanLengthsGiveTheSameAsLoops) {
  std::mt19937_64 random(3);
  for (const uint64_t longest : {1, 3, 10, 40, 150, 600, 5000}) {
    std::vector<uint64_t> offsets = {0};
    while (offsets.size() < 20'000 && offsets.back() < 2'000'000) {
      offsets.push_back(offsets.back() + 1 + random() % longest);
    }
    const std::vector<int32_t> values = RandomValues<int32_t>(offsets.back(), 1000, longest);
    SCOPED_TRACE(testing::Message() << "segments of up to " << longest);
    ExpectSegments(values, offsets,
                   Reduce(values, {.statistics = kManyStatistics,
                                   .grouping = {GroupingKind::kSegments, offsets}}));
  }
}

TEST_F(ReduceDeviceTest, GiantSegmentsAmidTinyOnesGiveTheSameAsLoops) {
  std::vector<uint64_t> offsets = {0};
  for (uint64_t g = 0; g < 30'000; ++g) {
    const uint64_t size = g % 7001 == 100 ? 1'000'003 : 1 + g % 4;
    offsets.push_back(offsets.back() + size);
  }
  const std::vector<int32_t> values = RandomValues<int32_t>(offsets.back(), 1000, 8);
  const ReductionSpec spec{.statistics = kManyStatistics,
                           .grouping = {GroupingKind::kSegments, offsets}};
  for (int run = 0; run < 3; ++run) ExpectSegments(values, offsets, Reduce(values, spec, run));
}

TEST_F(ReduceDeviceTest, NothingHasSumZeroAndProductOne) {
  const std::vector<Statistic> statistics = {Statistic::kCount, Statistic::kSum,
                                             Statistic::kProduct};
  const DeviceReduction integers =
      Reduce(std::vector<int32_t>{}, {.statistics = statistics, .grouping = {}});
  EXPECT_EQ(integers.slots, (std::vector<uint64_t>{0, 0, 1}));
  const DeviceReduction floats =
      Reduce(std::vector<float>{}, {.statistics = statistics, .grouping = {}});
  EXPECT_EQ(floats.slots, (std::vector<uint64_t>{0, 0, std::bit_cast<uint64_t>(1.0)}));
  const ReductionSpec no_groups{.statistics = statistics,
                                .grouping = {GroupingKind::kSegments, {0}}};
  EXPECT_TRUE(Reduce(std::vector<int32_t>{}, no_groups).status.ok());
}

TEST_F(ReduceDeviceTest, ResultsAreTheSameInEveryRun) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::vector<double> values(3'000'000);
  for (double& value : values) value = std::ldexp(normal(random), static_cast<int>(random() % 40));
  std::vector<uint64_t> offsets = {0, 10, 400'000, 400'001, 2'900'000, values.size()};
  const std::vector<Statistic> statistics = {Statistic::kSum, Statistic::kVariance,
                                             Statistic::kL1Norm, Statistic::kProduct};
  for (const uint64_t columns : {0, 1000, 3}) {
    ReductionSpec spec{.statistics = statistics, .grouping = {}};
    if (columns > 0) spec.grouping.kind = GroupingKind::kAxis0;
    if (columns == 0) spec.grouping = {GroupingKind::kSegments, offsets};
    const DeviceReduction first = Reduce(values, spec, 0, columns);
    for (int run = 0; run < 5; ++run) {
      EXPECT_EQ(Reduce(values, spec, 0, columns).slots, first.slots) << columns << " columns";
    }
  }
}

double TreeProduct(const std::vector<float>& values, uint64_t begin, uint64_t size,
                   uint64_t stride) {
  PairwiseProduct product;
  for (uint64_t tile = 0; tile < size; tile += kProductTile) {
    ScaledProduct lanes[kProductLanes];
    for (uint64_t lane = 0; lane < kProductLanes; ++lane) {
      lanes[lane] = ProductOfLane(tile, size, lane, [&](uint64_t i) {
        return static_cast<double>(values[begin + i * stride]);
      });
    }
    for (uint64_t width = kProductLanes / 2; width > 0; width /= 2) {
      for (uint64_t i = 0; i < width; ++i) lanes[i] = lanes[2 * i].Times(lanes[2 * i + 1]);
    }
    product.Push(lanes[0]);
  }
  return product.Result().Rounded();
}

TEST_F(ReduceDeviceTest, FloatingProductsFollowTheTree) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<float> near_one(0.99f, 1.0101f);
  std::vector<float> values(1'200'000);
  // Stretches far below 1 and others as far above: partial products leave the range of float64, and
  // the product of all comes back.
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::ldexp(near_one(random), static_cast<int>(i / 40'000 % 2 * 240) - 120);
  }
  const auto slot = [](double product) { return std::bit_cast<uint64_t>(product); };

  const DeviceReduction whole =
      Reduce(values, {.statistics = {Statistic::kProduct}, .grouping = {}}, 3);
  EXPECT_EQ(whole.slots[0], slot(TreeProduct(values, 0, values.size(), 1)));

  const ReductionSpec columns{.statistics = {Statistic::kProduct},
                              .grouping = {GroupingKind::kAxis0, {}}};
  const DeviceReduction down = Reduce(values, columns, 0, 40);
  for (uint64_t c = 0; c < 40; ++c) {
    EXPECT_EQ(down.slots[c], slot(TreeProduct(values, c, values.size() / 40, 40))) << c;
  }

  std::vector<uint64_t> offsets = {0, 0, 1, 512, 1025, 40'000, 40'001, values.size()};
  const ReductionSpec segments{.statistics = {Statistic::kSum, Statistic::kProduct},
                               .grouping = {GroupingKind::kSegments, offsets}};
  const DeviceReduction ragged = Reduce(values, segments);
  for (size_t g = 0; g + 1 < offsets.size(); ++g) {
    const double product = TreeProduct(values, offsets[g], offsets[g + 1] - offsets[g], 1);
    EXPECT_EQ(ragged.slots[offsets.size() - 1 + g], slot(product)) << g;
  }
}

TEST_F(ReduceDeviceTest, FailuresNameTheSmallestGroup) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> values(5000, 1);
  for (const uint64_t group : {17, 18, 900}) values[group * 5] = kHuge;
  ReductionSpec spec{.statistics = {Statistic::kMin, Statistic::kSum, Statistic::kProduct},
                     .grouping = {GroupingKind::kAxis1, {}}};
  EXPECT_EQ(Reduce(values, spec, 0, 5).failures,
            (std::vector<uint64_t>{kNoFailure, 17, kNoFailure}));
  spec.overflow_policy = OverflowPolicy::kWrap;
  // Then nothing can fail, and failures are not even written.
  const auto wrapping = PlanReduction(ArrayDescription::Matrix(ElementType::kInt64, 1000, 5), spec);
  ASSERT_TRUE(wrapping.ok()) << wrapping.status();
  EXPECT_EQ(ReductionFailureWords(*wrapping), 0u);

  std::vector<float> floats(40, std::nanf(""));
  floats[0] = 1;
  const ReductionSpec ignore{.statistics = {Statistic::kArgmax},
                             .grouping = {GroupingKind::kAxis0, {}},
                             .nan_policy = NanPolicy::kIgnore};
  EXPECT_EQ(Reduce(floats, ignore, 0, 10).failures, (std::vector<uint64_t>{1}));
}

TEST_F(ReduceDeviceTest, TooLittleScratchIsResourceExhausted) {
  const ReductionPlan plan =
      PlanReduction(ArrayDescription::Vector(ElementType::kFloat32, 1 << 20),
                    {.statistics = {Statistic::kSum, Statistic::kProduct}, .grouping = {}})
          .value();
  const ReductionRoute route = PlanReductionRoute({plan, properties(), true}).value();
  const uint64_t needed = route.scratch_bytes;
  const DeviceArray<float> elements(plan.array.element_count);
  const DeviceArray<uint64_t> slots(4);
  const DeviceArray<std::byte> memory(needed);
  for (const uint64_t available : {uint64_t{0}, needed / 2, needed - 256}) {
    Scratch scratch(memory.data(), available);
    EXPECT_EQ(LaunchReduction(plan, route, {{elements.data(), plan.array.element_count}},
                              {slots.data(), slots.data() + 2}, scratch, properties(), stream())
                  .code(),
              absl::StatusCode::kResourceExhausted)
        << available;
  }
  Synchronize();
}

TEST_F(ReduceDeviceTest, ElementsPast2To31Count) {
  constexpr uint64_t kCount = (uint64_t{1} << 31) + (uint64_t{1} << 30) + 12'345;
  constexpr uint64_t kLast = kCount - 1;
  if (FreeBytes() < kCount + (uint64_t{1} << 30)) GTEST_SKIP() << "not enough device memory";
  DeviceArray<int8_t> elements(kCount, 1);
  ASSERT_EQ(cudaMemset(elements.data(), 1, kCount), cudaSuccess);
  const int8_t best = 100;
  const int8_t worst = -100;
  elements.Write(kLast, std::span(&best, 1));
  elements.Write(uint64_t{1} << 31, std::span(&worst, 1));
  const std::vector<Statistic> statistics = {Statistic::kCount, Statistic::kSum, Statistic::kMin,
                                             Statistic::kArgmin, Statistic::kArgmax};
  const std::vector<uint64_t> expected = {kCount, kCount - 2, static_cast<uint64_t>(-100),
                                          uint64_t{1} << 31, kLast};
  const ArrayDescription array = ArrayDescription::Vector(ElementType::kInt8, kCount);

  const auto whole = PlanReduction(array, {.statistics = statistics, .grouping = {}});
  EXPECT_EQ(Launch(*whole, elements.data()).slots, expected);

  const auto segments = PlanReduction(
      array, {.statistics = statistics, .grouping = {GroupingKind::kSegments, {0, kCount}}});
  EXPECT_EQ(Launch(*segments, elements.data()).slots, expected);

  const auto column =
      PlanReduction(ArrayDescription::Matrix(ElementType::kInt8, kCount, 1),
                    {.statistics = statistics, .grouping = {GroupingKind::kAxis0, {}}});
  EXPECT_EQ(Launch(*column, elements.data()).slots, expected);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
