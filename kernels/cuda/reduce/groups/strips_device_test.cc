// Short groups of integers, which warps reduce in strips, against plain loops on the host.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/reduce_device_test.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {
namespace {

const std::vector<Statistic> kOnlySum = {Statistic::kSum};
const std::vector<Statistic> kOfSums = {Statistic::kMean, Statistic::kCount, Statistic::kSum};
const std::vector<Statistic> kOfPowers = {Statistic::kVariance, Statistic::kL2Norm};
const std::vector<Statistic> kOfCore = {Statistic::kSum,
                                        Statistic::kMin,
                                        Statistic::kArgmin,
                                        Statistic::kMax,
                                        Statistic::kArgmax,
                                        Statistic::kVariance,
                                        Statistic::kMean,
                                        Statistic::kNonzeroCount,
                                        Statistic::kAll,
                                        Statistic::kAny,
                                        Statistic::kStandardDeviation};
// What rows have a kernel of their own for.
const std::vector<Statistic> kOfRows = {Statistic::kSum, Statistic::kMin, Statistic::kMax,
                                        Statistic::kVariance};
const std::vector<Statistic> kOfMoments = {Statistic::kVariance, Statistic::kCount,
                                           Statistic::kMean, Statistic::kStandardDeviation};

template <class T>
class ReduceStripsTest : public ReduceDeviceTest {
 protected:
  // Of any bits, of which 64-bit ones' sums fit; or few values, so that extremes come again.
  static std::vector<T> Values(uint64_t count, bool few) {
    std::mt19937_64 random(count);
    std::vector<T> values(count);
    for (T& value : values) {
      const uint64_t bits = random();
      value =
          few ? static_cast<T>(bits % 3 == 0 ? std::numeric_limits<T>::max() : bits % 3)
              : static_cast<T>(sizeof(T) == 8 ? static_cast<T>(bits) >> 16 : static_cast<T>(bits));
    }
    return values;
  }

  void ExpectLikeLoops(const std::vector<T>& values, const std::vector<uint64_t>& offsets,
                       const ReductionSpec& spec, const DeviceReduction& result) {
    ASSERT_TRUE(result.status.ok()) << result.status;
    const uint64_t groups = offsets.size() - 1;
    for (uint64_t g = 0; g < groups; ++g) {
      ReductionState<T, kCorePartSet> state;
      for (uint64_t i = offsets[g]; i < offsets[g + 1]; ++i) {
        state.Add(values[i], i - offsets[g], false);
      }
      for (size_t s = 0; s < spec.statistics.size(); ++s) {
        uint64_t expected = 0;
        StatisticValue(spec.statistics[s], state, offsets[g + 1] - offsets[g], {.wrap = true},
                       &expected);
        ASSERT_EQ(result.slots[s * groups + g], expected)
            << StatisticName(spec.statistics[s]) << " of group " << g << " of " << groups;
      }
    }
  }

  void ExpectRowsLikeLoops(uint64_t rows, uint64_t columns, uint64_t misalignment,
                           int multiprocessors = 132) {
    SCOPED_TRACE(testing::Message()
                 << rows << " rows of " << columns << ", misaligned by " << misalignment);
    std::vector<uint64_t> offsets(rows + 1);
    for (uint64_t r = 0; r <= rows; ++r) offsets[r] = r * columns;
    for (const bool few : {false, true}) {
      const std::vector<T> values = Values(rows * columns, few);
      for (const auto& statistics : {kOnlySum, kOfSums, kOfPowers, kOfCore, kOfRows, kOfMoments}) {
        const ReductionSpec spec{.statistics = statistics,
                                 .grouping = {GroupingKind::kAxis1, {}},
                                 .overflow_policy = OverflowPolicy::kWrap};
        const auto plan =
            PlanReduction(ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns), spec);
        ASSERT_TRUE(plan.ok()) << plan.status();
        const DeviceArray<T> elements{std::span(values), misalignment};
        ExpectLikeLoops(values, offsets, spec,
                        Launch(*plan, elements.data(), WithMultiprocessors(multiprocessors)));
        if (this->HasFailure()) return;
      }
    }
  }
};
using Integers =
    ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ReduceStripsTest, Integers);

// A turn has 3584 bytes, a vector 16; above and below both.
TYPED_TEST(ReduceStripsTest, RowsOfAllSizes) {
  for (const uint64_t columns :
       {1,   2,   3,   4,   7,   15,  16,  17,   31,   33,   64,   111,  112,
        113, 128, 256, 447, 448, 449, 512, 1000, 1001, 3583, 3584, 3585, 4096}) {
    this->ExpectRowsLikeLoops(20'000 / columns + 3, columns, columns % 3);
    this->ExpectRowsLikeLoops(20'000 / columns + 3, columns, columns % 2, 1);
    if (this->HasFailure()) return;
  }
}

// So many that a warp has several for each of its lanes.
TYPED_TEST(ReduceStripsTest, ManyRows) {
  this->ExpectRowsLikeLoops(300'007, 1, 1);
  this->ExpectRowsLikeLoops(200'003, 5, 0);
  this->ExpectRowsLikeLoops(9001, 100, 1);
}

// So few multiprocessors that rows of 64 KiB are enough for every warp.
TYPED_TEST(ReduceStripsTest, LongRows) {
  const uint64_t columns = 65'536 / sizeof(TypeParam);
  this->ExpectRowsLikeLoops(40, columns, 0, 1);
  this->ExpectRowsLikeLoops(41, columns - 1, 1, 1);
  this->ExpectRowsLikeLoops(37, columns / 3, 1, 1);
}

TYPED_TEST(ReduceStripsTest, EveryAlignment) {
  for (uint64_t misalignment = 0; misalignment < 16 / sizeof(TypeParam); ++misalignment) {
    this->ExpectRowsLikeLoops(100, 77, misalignment);
    this->ExpectRowsLikeLoops(1, 5, misalignment);
  }
}

// Empty ones, at both ends too, and some that are left to blocks.
TYPED_TEST(ReduceStripsTest, SumsOfRaggedSegments) {
  std::mt19937_64 random(8);
  for (const uint64_t longest : {1, 4, 40, 600, 9000}) {
    for (const bool has_giants : {false, true}) {
      std::vector<uint64_t> offsets = {0, 0};
      while (offsets.size() < 100'000 && offsets.back() < 1'000'000) {
        const bool is_giant = has_giants && random() % 5000 == 0;
        offsets.push_back(offsets.back() + (is_giant ? 100'000 : random() % (longest + 1)));
      }
      offsets.push_back(offsets.back());
      SCOPED_TRACE(testing::Message()
                   << "segments of up to " << longest << ", giants " << has_giants);
      const std::vector<TypeParam> values = this->Values(offsets.back(), false);
      const ReductionSpec spec{.statistics = kOnlySum,
                               .grouping = {GroupingKind::kSegments, offsets},
                               .overflow_policy = OverflowPolicy::kWrap};
      this->ExpectLikeLoops(values, offsets, spec, this->Reduce(values, spec, 1));
      if (this->HasFailure()) return;
    }
  }
}

// The same without empty ones, of which there are no means and no extremes.
TYPED_TEST(ReduceStripsTest, SeveralStatisticsOfRaggedSegments) {
  std::mt19937_64 random(9);
  for (const uint64_t longest : {1, 4, 40, 600, 9000}) {
    std::vector<uint64_t> offsets = {0};
    while (offsets.size() < 50'000 && offsets.back() < 1'000'000) {
      const bool is_giant = random() % 5000 == 0;
      offsets.push_back(offsets.back() + 1 + (is_giant ? 100'000 : random() % longest));
    }
    SCOPED_TRACE(testing::Message() << "segments of up to " << longest);
    const std::vector<TypeParam> values = this->Values(offsets.back(), longest == 40);
    for (const auto& statistics : {kOfSums, kOfPowers, kOfCore}) {
      const ReductionSpec spec{.statistics = statistics,
                               .grouping = {GroupingKind::kSegments, offsets},
                               .overflow_policy = OverflowPolicy::kWrap};
      this->ExpectLikeLoops(values, offsets, spec, this->Reduce(values, spec, 1));
      if (this->HasFailure()) return;
    }
  }
}

// Vectors that several rows share, and the last, behind which nothing is read.
TYPED_TEST(ReduceStripsTest, FewRowsBehindATurn) {
  for (const uint64_t rows : {31, 32, 33, 1023, 1025, 1030}) {
    for (const uint64_t columns : {1, 3, 4, 9}) {
      this->ExpectRowsLikeLoops(rows, columns, 1, 1);
      if (this->HasFailure()) return;
    }
  }
}

TEST_F(ReduceDeviceTest, VariancesOfRowsHaveDegreesOfFreedom) {
  constexpr uint64_t kRows = 100;
  for (const uint64_t columns : {1, 2, 3, 40}) {
    std::vector<int32_t> values;
    for (uint64_t i = 0; i < kRows * columns; ++i) values.push_back(static_cast<int32_t>(i * i));
    for (uint32_t ddof = 0; ddof < std::min<uint64_t>(columns, 3); ++ddof) {
      const DeviceReduction result =
          this->Reduce(values,
                       {.statistics = {Statistic::kVariance, Statistic::kMin},
                        .grouping = {GroupingKind::kAxis1, {}},
                        .delta_degrees_of_freedom = ddof},
                       0, columns);
      ASSERT_TRUE(result.status.ok()) << result.status;
      for (uint64_t r = 0; r < kRows; ++r) {
        ReductionState<int32_t, kCorePartSet> state;
        for (uint64_t i = 0; i < columns; ++i) state.Add(values[r * columns + i], i, false);
        uint64_t expected = 0;
        StatisticValue(Statistic::kVariance, state, columns, {.delta_degrees_of_freedom = ddof},
                       &expected);
        ASSERT_EQ(result.slots[r], expected) << "row " << r << " of " << columns << ", " << ddof;
      }
    }
  }
}

TEST_F(ReduceDeviceTest, TheFirstRowWhoseSumFailsIsReported) {
  constexpr uint64_t kColumns = 5;
  std::vector<int64_t> values(kColumns * 100'000, 1);
  const uint64_t failing[] = {99'999, 70'002, 70'001, 43'210};
  for (const auto& statistics : {kOnlySum, kOfCore, kOfRows}) {
    std::vector<int64_t> some = values;
    for (const uint64_t row : failing) {
      some[row * kColumns] = some[row * kColumns + 4] = std::numeric_limits<int64_t>::min();
      const DeviceReduction result = this->Reduce(
          some, {.statistics = statistics, .grouping = {GroupingKind::kAxis1, {}}}, 1, kColumns);
      ASSERT_TRUE(result.status.ok()) << result.status;
      EXPECT_EQ(result.failures[0], row);
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
