// Weighted quantiles, by sorting and adding integers.
#include "kernels/folds/weighted_quantiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
constexpr long double kInfinity = std::numeric_limits<long double>::infinity();

// The quantile of one group, as NumPy 2 has it: weights are multiples of 2^-10, whose sums are
// below 2^43, so that none is rounded.
long double ExpectedQuantile(std::vector<std::pair<long double, long double>> weighted, double q) {
  std::sort(weighted.begin(), weighted.end());
  uint64_t total = 0;
  for (const auto& [x, weight] : weighted) total += static_cast<uint64_t>(weight * 1024);
  uint64_t sum = 0;
  for (const auto& [x, weight] : weighted) {
    sum += static_cast<uint64_t>(weight * 1024);
    if (sum > 0 && static_cast<double>(sum) / static_cast<double>(total) >= q) return x;
  }
  return kNan;
}

uint64_t SlotOf(long double x, ElementType type) {
  if (IsFloatingPoint(type)) return std::bit_cast<uint64_t>(static_cast<double>(x) + 0.0);
  return IsUnsigned(type) ? static_cast<uint64_t>(x)
                          : static_cast<uint64_t>(static_cast<int64_t>(x));
}

class WeightedQuantilesTest : public EngineTest {
 protected:
  absl::StatusOr<QuantileResult> Find(const TestArray& array, const TestArray& weights,
                                      const WeightedQuantileSpec& spec) {
    const auto plan = PlanWeightedQuantiles(array.description(), weights.description(), spec);
    if (!plan.ok()) return plan.status();
    RunStatistics statistics;
    auto result = FindWeightedQuantiles(*plan, array.span(), weights.span(), engine().lane(),
                                        std::stop_token(), statistics);
    if (result.ok()) {
      EXPECT_EQ(statistics.strategy, "quantiles/weighted");
    }
    return result;
  }

  void Check(const TestArray& array, const TestArray& weights, const WeightedQuantileSpec& spec) {
    SCOPED_TRACE(Describe(array.description()));
    const absl::StatusOr<QuantileResult> result = Find(array, weights, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    const std::vector<GroupElements> groups = GroupsOf(array.description(), spec.grouping);
    ASSERT_EQ(result->slots.size(), spec.quantiles.size() * groups.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      std::vector<std::pair<long double, long double>> weighted;
      bool is_nan = false;
      for (uint64_t i = 0; i < groups[g].count; ++i) {
        const uint64_t at = groups[g].index(i);
        if (std::isnan(array[at])) {
          is_nan |= spec.nan_policy == NanPolicy::kPropagate;
        } else {
          weighted.emplace_back(array[at], weights[at]);
        }
      }
      for (size_t t = 0; t < spec.quantiles.size(); ++t) {
        SCOPED_TRACE(testing::Message() << "group " << g << ", quantile " << spec.quantiles[t]);
        const uint64_t got = result->slots[t * groups.size() + g];
        if (is_nan || weighted.empty()) {
          ASSERT_TRUE(std::isnan(std::bit_cast<double>(got)));
        } else {
          ASSERT_EQ(got, SlotOf(ExpectedQuantile(weighted, spec.quantiles[t]), array.type()));
        }
      }
    }
  }

  void ExpectRefused(const TestArray& array, const TestArray& weights, const std::string& field,
                     const std::string& text, WeightedQuantileSpec spec = {.quantiles = {0.5}}) {
    const absl::Status status = Find(array, weights, spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(FieldOf(status), field);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(text));
  }
};

constexpr ElementType kWeightTypes[] = {ElementType::kFloat64, ElementType::kUint8,
                                        ElementType::kFloat32, ElementType::kInt64};

TEST_P(WeightedQuantilesTest, EveryType) {
  uint64_t seed = 1;
  for (const ElementType type : kAllTypes) {
    const ElementType weight_type = kWeightTypes[++seed % 4];
    const TestArray array = MakeVector(type, 300, DataKind::kWide, seed, seed % 2);
    const TestArray weights = MakeUniform(weight_type, 300, 0, 9, seed);
    TestArray rounded(ArrayDescription::Vector(weight_type, 300));
    for (uint64_t i = 0; i < 300; ++i) rounded.Set(i, std::floor(weights[i] * 16) / 16);
    Check(array, IsFloatingPoint(weight_type) ? rounded : weights,
          {.quantiles = {0, 0.1, 0.5, 0.5, 0.999, 1}});
  }
}

// So many that bins become as narrow as they may at first.
TEST_P(WeightedQuantilesTest, ManyElements) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kInt64}) {
    const TestArray array = MakeVector(type, 30'011, DataKind::kWide, 5);
    const TestArray weights = MakeUniform(ElementType::kUint16, 30'011, 0, 500, 6);
    Check(array, weights, {.quantiles = {0.25, 0.5, 1e-7}});
  }
}

TEST_P(WeightedQuantilesTest, IntegersThatNoFloat64Is) {
  for (const ElementType type : {ElementType::kInt64, ElementType::kUint64}) {
    const long double last = LargestElement(type);
    std::vector<long double> numbers = {last, last - 1, last - 2, last - 3000, 0, 1, 2};
    if (!IsUnsigned(type)) numbers.push_back(SmallestElement(type));
    const TestArray weights =
        TestArray::Vector(ElementType::kUint32, std::vector<long double>(numbers.size(), 7));
    Check(TestArray::Vector(type, numbers), weights,
          {.quantiles = {0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}});
  }
}

TEST_P(WeightedQuantilesTest, InfinitiesZerosAndTheLargestNumbers) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    const long double last = LargestElement(type);
    const std::vector<long double> numbers = {kInfinity, last, -0.0L, 0,     -kInfinity,
                                              -last,     last, 1,     -1.0L, kInfinity};
    const TestArray weights =
        TestArray::Vector(ElementType::kFloat64, {1, 2, 3, 0.5, 1, 1, 2, 3, 0, 4});
    WeightedQuantileSpec spec;
    for (int i = 0; i <= 35; ++i) spec.quantiles.push_back(i / 35.0);
    Check(TestArray::Vector(type, numbers), weights, spec);
  }
}

TEST_P(WeightedQuantilesTest, RowsSegmentsAndNans) {
  TestArray array(ArrayDescription::Matrix(ElementType::kFloat32, 4, 6));
  TestArray weights(ArrayDescription::Vector(ElementType::kFloat64, 24));
  for (uint64_t i = 0; i < 24; ++i) {
    array.Set(i, i == 7 || (i >= 12 && i < 18) ? kNan : static_cast<long double>(i * 5 % 7));
    weights.Set(i, static_cast<long double>(i % 4) + 0.25L);
  }
  for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
    Check(array, weights,
          {.quantiles = {0.5, 0.9},
           .grouping = {.kind = GroupingKind::kAxis1, .offsets = {}},
           .nan_policy = policy});
    Check(array, weights, {.quantiles = {0.5}, .nan_policy = policy});
  }
  TestArray line(ArrayDescription::Vector(ElementType::kInt16, 24));
  for (uint64_t i = 0; i < 24; ++i) line.Set(i, static_cast<long double>(i * 5 % 7));
  Check(line, weights,
        {.quantiles = {0.3},
         .grouping = {.kind = GroupingKind::kSegments, .offsets = {0, 1, 9, 24}}});
}

// Sums that float64 rounds: in NumPy's order of additions all but the first weight vanish.
TEST_P(WeightedQuantilesTest, SumsAreExact) {
  constexpr double kLarge = 0x1p53;
  const TestArray array = TestArray::Vector(ElementType::kInt32, {1, 2, 3, 4});
  const TestArray floats = TestArray::Vector(ElementType::kFloat64, {kLarge, 1, 1, kLarge + 2});
  // Half of the weight is 2^53 + 2, which only the first three elements have.
  auto result = Find(array, floats, {.quantiles = {0.5}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->slots, std::vector<uint64_t>{3});
  const TestArray tiny = TestArray::Vector(ElementType::kFloat64, {0, 0x1p-1074L, 0x1p1023L, 0});
  result = Find(array, tiny, {.quantiles = {0, 1e-300, 1}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->slots, (std::vector<uint64_t>{2, 3, 3}));
}

TEST_P(WeightedQuantilesTest, FaultyWeightsAreNamed) {
  const TestArray array = TestArray::Vector(ElementType::kFloat32, {1, 2, 3, 4});
  const auto weights = [](std::vector<long double> values) {
    return TestArray::Vector(ElementType::kFloat32, values);
  };
  ExpectRefused(array, weights({1, 2, 3}), "weights", "3 elements");
  ExpectRefused(array, weights({1, 2, -1, 3}), "weights", "of element 2 is negative");
  ExpectRefused(array, weights({1, kNan, 1, 3}), "weights", "of element 1 is NaN");
  ExpectRefused(array, weights({1, 2, 1, kInfinity}), "weights", "of element 3 is infinite");
  ExpectRefused(array, weights({0, 0, 0, 0}), "weights", "those of group 0 are all 0");
  ExpectRefused(array, TestArray::Vector(ElementType::kInt8, {1, -3, 1, 1}), "weights",
                "of element 1 is negative");
  ExpectRefused(array, weights({1, 2, 1, 3}), "quantiles[0]", "2 is not from 0 to 1",
                {.quantiles = {2}});
  const TestArray nothing(ArrayDescription::Vector(ElementType::kFloat32, 0));
  ExpectRefused(nothing, nothing, "array", "no elements");
}

INSTANTIATE_TEST_SUITE_P(Cpu, WeightedQuantilesTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, WeightedQuantilesTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
