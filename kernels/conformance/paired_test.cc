// Statistics of two arrays, or of the columns of one.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/paired_oracle.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels::conformance {
namespace {

using enum PairedStatistic;

const std::vector<PairedStatistic> kAllStatistics = {kDot, kCovariance, kCorrelation, kMean,
                                                     kVariance};
// Without dot products, which overflow 64 bits where integers are of any size.
const std::vector<PairedStatistic> kAllButDot = {kCovariance, kCorrelation, kMean, kVariance};

class PairedTest : public EngineTest {
 protected:
  absl::StatusOr<PairedResult> Relate(const PairedArrays& arrays, PairedSpec spec) {
    spec.has_y = arrays.y != nullptr;
    spec.has_weights = arrays.weights != nullptr;
    return engine().Relate(arrays.x, arrays.y, arrays.weights, spec);
  }
  void Check(const PairedArrays& arrays, PairedSpec spec) {
    spec.has_y = arrays.y != nullptr;
    spec.has_weights = arrays.weights != nullptr;
    CheckPaired(arrays, spec, Relate(arrays, spec));
  }

  // Of the columns' statistics that have one value.
  static double Value(const absl::StatusOr<PairedResult>& result, size_t statistic = 0,
                      size_t place = 0) {
    return std::bit_cast<double>(result.value().columns[statistic].slots[place]);
  }
};

// None is negative, and not all are 0.
TestArray MakeWeights(ElementType type, uint64_t size, uint64_t seed) {
  TestArray weights = MakeUniform(type, size, 0, 100, seed);
  weights.Set(size / 2, 7);
  return weights;
}

TEST_P(PairedTest, TwoArraysOfEveryTypeAndSize) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : {1, 2, 31, 33, 257, 700}) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
        const bool is_wide = kind == DataKind::kWide && !IsFloatingPoint(type);
        const TestArray x = MakeVector(type, size, kind, size + 3, size % 3 == 0 ? 1 : 0);
        const TestArray y = MakeVector(type, size, kind, size + 4);
        Check({x, &y}, {.statistics = is_wide ? kAllButDot : kAllStatistics,
                        .delta_degrees_of_freedom = size > 1 ? 1u : 0u});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(PairedTest, WeightsOfEveryType) {
  for (const ElementType type : kAllTypes) {
    for (const WeightKind kind : {WeightKind::kFrequency, WeightKind::kReliability}) {
      const uint64_t size = 150;
      const TestArray x = MakeVector(type, size, DataKind::kWide, 5, 1);
      const TestArray y = MakeVector(type, size, DataKind::kWide, 6);
      const TestArray weights = MakeWeights(type, size, 8);
      const PairedSpec spec{
          .statistics = kAllButDot, .delta_degrees_of_freedom = 1, .weight_kind = kind};
      Check({x, &y, &weights}, spec);
      Check({x, nullptr, &weights}, spec);
      if (HasFailure()) return;
    }
  }
}

TEST_P(PairedTest, ColumnsOfAMatrix) {
  for (const ElementType type : {ElementType::kInt16, ElementType::kUint64, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const uint64_t columns : {1, 2, 3, 7}) {
      const uint64_t rows = 90;
      const TestArray x =
          MakeData(ArrayDescription::Matrix(type, rows, columns), DataKind::kWide, columns, 1);
      const TestArray weights = MakeWeights(type, rows, columns);
      Check({x}, {.statistics = kAllButDot, .delta_degrees_of_freedom = 2});
      Check({x, nullptr, &weights}, {.statistics = kAllButDot});
      if (HasFailure()) return;
    }
  }
}

TEST_P(PairedTest, AsManyColumnsAsThereMayBe) {
  const TestArray x = MakeData(
      ArrayDescription::Matrix(ElementType::kFloat32, 10, kPairedColumnsMax), DataKind::kSmall, 3);
  Check({x}, {.statistics = {kDot, kMean}});
}

// Many more than threads take at a time.
TEST_P(PairedTest, LongArrays) {
  for (const ElementType type : {ElementType::kInt8, ElementType::kInt32, ElementType::kFloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    const uint64_t size = 500'001;
    const TestArray x = MakeUniform(type, size, -50, 50, 1, 1);
    const TestArray y = MakeUniform(type, size, -50, 50, 2);
    long double dot = 0;
    // Exact to some 60 bits, where the exact sum is rounded to 53.
    for (uint64_t i = 0; i < size; ++i) dot += x[i] * y[i];
    const absl::StatusOr<PairedResult> result = Relate({x, &y}, {.statistics = {kDot}});
    ASSERT_TRUE(result.ok()) << result.status();
    if (IsFloatingPoint(type)) {
      EXPECT_NEAR(Value(result), static_cast<double>(dot), 1e-9);
    } else {
      EXPECT_EQ(static_cast<int64_t>(result->columns[0].slots[0]), static_cast<int64_t>(dot));
    }
  }
}

// Runs that are summed quickly beside those that are not: the sums of a part that is too short for
// a quick run have the same bits.
TEST_P(PairedTest, WholeRunsHaveTheBitsOfShortOnes) {
  constexpr uint64_t kSize = 3 * 1024;
  for (const ElementType type : kAllTypes) {
    for (int range = 0; range < 4; ++range) {
      TestArray x = range == 3   ? MakeVector(type, kSize, DataKind::kSpecial, 1)
                    : range == 2 ? MakeVector(type, kSize, DataKind::kWide, 1)
                                 : MakeUniform(type, kSize, 0, 100, 1);
      TestArray y = range == 2 ? MakeVector(type, kSize, DataKind::kWide, 2)
                               : MakeUniform(type, kSize, range == 0 ? 0 : 1, 100, 2);
      // One that lies far from the others, in the second run.
      if (range == 1 && IsFloatingPoint(type)) x.Set(1500, 0x1p-12L);
      const TestArray weights = MakeUniform(type, kSize, 1, 50, 3);
      const PairedSpec spec{.statistics = kAllStatistics, .has_y = true, .has_weights = true};
      const PairedPlan plan = PlanPaired(x.description(), spec).value();
      const auto sums_of = [&](uint64_t begin, uint64_t end) {
        const uint64_t size = ElementSize(type);
        const auto part = [&](const TestArray& array) {
          return HostSpan{array.data() + begin * size, (end - begin) * size};
        };
        const PairedPlan part_plan =
            PlanPaired(ArrayDescription::Vector(type, end - begin), spec).value();
        RunStatistics statistics;
        return engine()
            .lane()
            .RunPaired(part_plan, {.x = part(x), .y = part(y), .weights = part(weights)},
                       std::stop_token(), statistics)
            .value();
      };
      PairedSums merged = NoSums(plan);
      for (uint64_t begin = 0; begin < kSize; begin += 512) {
        MergeSums(plan, sums_of(begin, begin + 512), merged);
      }
      const PairedSums whole = sums_of(0, kSize);
      EXPECT_EQ(merged.flags, whole.flags) << ElementTypeName(type) << " " << range;
      const std::vector<size_t> offsets = LimbOffsets(plan);
      for (size_t t = 0; t < plan.terms.size(); ++t) {
        if ((whole.flags[t] & kSawNan) != 0) continue;  // Then the numbers mean nothing.
        for (size_t limb = offsets[t]; limb < offsets[t + 1]; ++limb) {
          EXPECT_EQ(merged.limbs[limb], whole.limbs[limb])
              << ElementTypeName(type) << " " << range << " term " << t;
        }
      }
      if (HasFailure()) return;
    }
  }
}

// What float64 arithmetic loses in any order.
TEST_P(PairedTest, WhatCancelsLeavesTheRest) {
  const ElementType type = ElementType::kFloat64;
  const TestArray x = TestArray::Vector(type, {1e300L, 3.0L, -1e300L, 1e-300L, 0x1p-540L});
  const TestArray y = TestArray::Vector(type, {1e300L, 5.0L, 1e300L, 1e-300L, 0x1p-540L});
  EXPECT_EQ(Value(Relate({x, &y}, {.statistics = {kDot}})), 15.0);
  const TestArray small = TestArray::Vector(type, {0x1p-537L, 0x1p-538L});
  EXPECT_EQ(Value(Relate({small, &small}, {.statistics = {kDot}})), 0x1p-1074);
}

TEST_P(PairedTest, ColumnsOnALineAreCorrelatedExactly) {
  const TestArray x = MakeUniform(ElementType::kInt32, 999, -1'000'000, 1'000'000, 9);
  TestArray y(x.description());
  for (uint64_t i = 0; i < x.size(); ++i) y.Set(i, 17 - 3 * x[i]);
  EXPECT_EQ(Value(Relate({x, &y}, {.statistics = {kCorrelation}})), -1);
  EXPECT_EQ(Value(Relate({x, &x}, {.statistics = {kCorrelation}})), 1);
}

TEST_P(PairedTest, ConstantColumns) {
  const TestArray x = TestArray::Vector(ElementType::kFloat64, {0.1L, 0.1L, 0.1L});
  const TestArray y = TestArray::Vector(ElementType::kFloat64, {1, 2, 3});
  const auto result = Relate({x, &y}, {.statistics = {kCorrelation, kCovariance, kVariance}});
  EXPECT_TRUE(std::isnan(Value(result)));
  EXPECT_EQ(Value(result, 1), 0);
  EXPECT_EQ(Value(result, 2), 0);
}

TEST_P(PairedTest, NanAndInfinities) {
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray ones = TestArray::Vector(type, {1, 1, 2});
    const TestArray infinite = TestArray::Vector(type, {1, -kInfinity, 2});
    const TestArray both = TestArray::Vector(type, {kInfinity, -kInfinity, 2});
    const TestArray zero = TestArray::Vector(type, {1, 0, 2});
    const TestArray nan = TestArray::Vector(type, {1, kNan, 2});
    const auto dot = [&](const TestArray& x, const TestArray& y) {
      return Value(Relate({x, &y}, {.statistics = {kDot}}));
    };
    EXPECT_EQ(dot(ones, infinite), -INFINITY);
    EXPECT_EQ(dot(infinite, infinite), INFINITY);
    EXPECT_TRUE(std::isnan(dot(ones, both)));
    EXPECT_TRUE(std::isnan(dot(zero, infinite)));
    EXPECT_TRUE(std::isnan(dot(ones, nan)));
    const auto others = Relate({ones, &infinite}, {.statistics = kAllStatistics});
    EXPECT_TRUE(std::isnan(Value(others, 1)));
    EXPECT_TRUE(std::isnan(Value(others, 2)));
    EXPECT_EQ(Value(others, 3, 1), -INFINITY);
    EXPECT_TRUE(std::isnan(Value(others, 4, 1)));
    EXPECT_TRUE(std::isfinite(Value(others, 4, 0)));
  }
}

TEST_P(PairedTest, ObservationsWithNanAreLeftOut) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    TestArray x = MakeVector(type, 300, DataKind::kWide, 1);
    TestArray y = MakeVector(type, 300, DataKind::kWide, 2);
    TestArray weights = MakeWeights(type, 300, 3);
    for (const uint64_t i : {0, 17, 299}) x.Set(i, NAN);
    for (const uint64_t i : {1, 17, 100}) y.Set(i, NAN);
    weights.Set(200, NAN);
    const PairedSpec spec{.statistics = kAllStatistics, .nan_policy = NanPolicy::kIgnore};
    Check({x, &y}, spec);
    Check({x, &y, &weights}, spec);
    TestArray matrix = MakeData(ArrayDescription::Matrix(type, 100, 3), DataKind::kWide, 4);
    matrix.Set(5, NAN);
    matrix.Set(150, NAN);
    Check({matrix}, spec);
    if (HasFailure()) return;
  }
}

TEST_P(PairedTest, NothingButNan) {
  const TestArray nan = TestArray::Vector(ElementType::kFloat32, {NAN, NAN});
  const auto result =
      Relate({nan, &nan}, {.statistics = kAllStatistics, .nan_policy = NanPolicy::kIgnore});
  EXPECT_EQ(std::bit_cast<uint64_t>(Value(result)), 0u);
  for (size_t s = 1; s < kAllStatistics.size(); ++s) EXPECT_TRUE(std::isnan(Value(result, s)));
}

TEST_P(PairedTest, NegativeZeros) {
  const TestArray zero = TestArray::Vector(ElementType::kFloat64, {-0.0L, -0.0L});
  const TestArray ones = TestArray::Vector(ElementType::kFloat64, {1, 2});
  const auto result = Relate({zero, &ones}, {.statistics = {kDot, kMean}});
  EXPECT_TRUE(std::signbit(Value(result)));
  EXPECT_TRUE(std::signbit(Value(result, 1)));
  EXPECT_FALSE(std::signbit(Value(Relate({zero, &zero}, {.statistics = {kDot}}))));
}

TEST_P(PairedTest, NoElements) {
  const TestArray none(ArrayDescription::Vector(ElementType::kFloat32, 0));
  EXPECT_EQ(std::bit_cast<uint64_t>(Value(Relate({none, &none}, {.statistics = {kDot}}))), 0u);
  EXPECT_EQ(FieldOf(Relate({none, &none}, {.statistics = {kMean}}).status()), "statistics[0]");
}

TEST_P(PairedTest, IntegersThatOverflow) {
  const long double huge = LargestElement(ElementType::kInt64);
  const TestArray x = TestArray::Vector(ElementType::kInt64, {huge, huge, 1});
  const TestArray y = TestArray::Vector(ElementType::kInt64, {1, 1, 5});
  const auto refused = Relate({x, &y}, {.statistics = {kDot}});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kOutOfRange) << refused.status();
  const auto wrapped =
      Relate({x, &y}, {.statistics = {kDot}, .overflow_policy = OverflowPolicy::kWrap});
  EXPECT_EQ(wrapped.value().columns[0].slots[0], 3u);
  // What comes back has never left.
  const TestArray back = TestArray::Vector(ElementType::kInt64, {1, -1, -4});
  EXPECT_EQ(
      static_cast<int64_t>(Relate({x, &back}, {.statistics = {kDot}}).value().columns[0].slots[0]),
      -4);
  const TestArray least =
      TestArray::Vector(ElementType::kInt64, {SmallestElement(ElementType::kInt64)});
  const TestArray one = TestArray::Vector(ElementType::kInt64, {1});
  EXPECT_EQ(Relate({least, &one}, {.statistics = {kDot}}).value().columns[0].slots[0],
            uint64_t{1} << 63);
}

TEST_P(PairedTest, WeightsThatAreNone) {
  const ElementType type = ElementType::kFloat32;
  const TestArray x = TestArray::Vector(type, {1, 2});
  const auto field = [&](long double first, long double second, PairedStatistic statistic) {
    const TestArray weights = TestArray::Vector(type, {first, second});
    return FieldOf(Relate({x, nullptr, &weights}, {.statistics = {statistic}}).status());
  };
  EXPECT_EQ(field(1, -1, kDot), "weights");
  EXPECT_EQ(field(NAN, 1, kMean), "weights");
  EXPECT_EQ(field(1, INFINITY, kMean), "weights");
  EXPECT_EQ(field(0, 0, kMean), "weights");
  EXPECT_EQ(field(0, 0, kDot), "");
  EXPECT_EQ(field(0, -0.0L, kDot), "");
}

// The sums of parts, merged in any order, are those of the whole.
TEST_P(PairedTest, SumsOfPartsMerge) {
  const ElementType type = ElementType::kFloat32;
  const TestArray x = MakeVector(type, 1000, DataKind::kWide, 1);
  const TestArray y = MakeVector(type, 1000, DataKind::kWide, 2);
  const PairedSpec spec{.statistics = kAllStatistics, .has_y = true};
  const auto sums_of = [&](uint64_t begin, uint64_t end) {
    const auto part = [&](const TestArray& array) {
      return HostSpan{array.data() + begin * sizeof(float), (end - begin) * sizeof(float)};
    };
    const PairedPlan plan = PlanPaired(ArrayDescription::Vector(type, end - begin), spec).value();
    RunStatistics statistics;
    return engine()
        .lane()
        .RunPaired(plan, {.x = part(x), .y = part(y), .weights = {}}, std::stop_token(), statistics)
        .value();
  };
  const PairedPlan plan = PlanPaired(x.description(), spec).value();
  PairedSums merged = sums_of(700, 1000);
  MergeSums(plan, sums_of(0, 1), merged);
  MergeSums(plan, sums_of(1, 700), merged);
  const PairedSums whole = sums_of(0, 1000);
  EXPECT_EQ(merged.limbs, whole.limbs);
  EXPECT_EQ(merged.flags, whole.flags);
  EXPECT_EQ(merged.observation_count, whole.observation_count);
}

INSTANTIATE_TEST_SUITE_P(Cpu, PairedTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, PairedTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
