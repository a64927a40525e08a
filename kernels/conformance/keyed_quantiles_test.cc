// Quantiles of the values of each key, by sorting each group's elements by itself.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/keyed_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr QuantileMethod kMethods[] = {QuantileMethod::kLinear,   QuantileMethod::kLower,
                                       QuantileMethod::kHigher,   QuantileMethod::kNearest,
                                       QuantileMethod::kMidpoint, QuantileMethod::kMean};

constexpr long double kNanElement = std::numeric_limits<long double>::quiet_NaN();

KeyedReductionSpec QuantilesOf(KeyGroupsSpec groups, std::vector<double> quantiles,
                               QuantileMethod method = QuantileMethod::kLinear) {
  return {.groups = std::move(groups),
          .reduction = {},
          .quantiles = std::move(quantiles),
          .quantile_method = method};
}

class KeyedQuantilesTest : public EngineTest {
 protected:
  void CheckFound(const TestArray& keys, const TestArray& values, const KeyedReductionSpec& spec) {
    const auto run = ReduceByKey(engine(), keys, values, spec);
    ASSERT_TRUE(run.ok()) << run.status();
    CheckKeyedQuantiles(ElementsByKey(keys), values, spec, std::nullopt, 0, run->answer);
  }

  void ExpectRefused(const KeyedReductionSpec& spec, const std::string& field) {
    const TestArray keys = TestArray::Vector(ElementType::kInt32, {1, 2, 1});
    const auto run = ReduceByKey(engine(), keys, keys, spec);
    EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument) << run.status();
    EXPECT_EQ(FieldOf(run.status()), field);
  }
};

TEST_P(KeyedQuantilesTest, EveryTypeAndMethod) {
  uint64_t seed = 1;
  for (const ElementType type : kAllTypes) {
    for (const QuantileMethod method : kMethods) {
      const TestArray keys = MakeUniform(ElementType::kInt16, 301, -6, 6, ++seed);
      const TestArray values = MakeVector(type, 301, DataKind::kWide, seed, seed % 2);
      CheckFound(keys, values, QuantilesOf(FoundKeysSpec{}, {0, 0.5, 0.3, 1}, method));
    }
  }
}

// Groups of a few elements and of more than a block, or a thread, holds; sorted keys and others.
TEST_P(KeyedQuantilesTest, GroupsOfAnySize) {
  constexpr uint64_t kSize = 200'000;
  for (const bool is_sorted : {false, true}) {
    for (const ElementType type : {ElementType::kFloat32, ElementType::kInt64}) {
      SCOPED_TRACE(testing::Message() << is_sorted);
      TestArray keys(ArrayDescription::Vector(ElementType::kInt64, kSize));
      for (uint64_t i = 0; i < kSize; ++i) {
        const uint64_t place = is_sorted ? i : i * 7919 % kSize;
        // Half of all elements have one key, a quarter the next one, and so on.
        int64_t key = 40;
        for (uint64_t rest = place; rest < kSize / 2 && key > 0; rest *= 2) --key;
        keys.Set(i, static_cast<long double>(key));
      }
      const TestArray values = MakeVector(type, kSize, DataKind::kWide, 3);
      CheckFound(keys, values, QuantilesOf(FoundKeysSpec{}, {0.5, 0.99}));
    }
  }
}

TEST_P(KeyedQuantilesTest, NansOfOneKeyAreItsOwn) {
  const TestArray keys = TestArray::Vector(ElementType::kUint8, {3, 1, 3, 1, 3, 2});
  const TestArray values =
      TestArray::Vector(ElementType::kFloat64, {5, kNanElement, 1, 8, 2, kNanElement});
  for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
    KeyedReductionSpec spec = QuantilesOf(FoundKeysSpec{}, {0.5});
    spec.reduction.nan_policy = policy;
    CheckFound(keys, values, spec);
  }
}

TEST_P(KeyedQuantilesTest, RangesAndBinsAnswerForGroupsOfNothing) {
  const TestArray keys = MakeUniform(ElementType::kInt32, 500, 0, 9, 4);
  for (const ElementType type : {ElementType::kInt32, ElementType::kFloat64}) {
    const TestArray values = MakeVector(type, 500, DataKind::kWide, 5);
    for (const QuantileMethod method : {QuantileMethod::kLinear, QuantileMethod::kLower}) {
      KeyedReductionSpec spec =
          QuantilesOf(KeyRangeSpec{.first_key = -3, .key_count = 20}, {0.25, 0.5}, method);
      auto run = ReduceByKey(engine(), keys, values, spec);
      ASSERT_TRUE(run.ok()) << run.status();
      CheckKeyedQuantiles(ElementsByKey(keys), values, spec, 20, -3, run->answer);
      const std::vector<double> edges = {-4, -1, 2.5, 4, 8};
      spec.groups = KeyBinsSpec{.bins = {EdgeBinsSpec{edges}}};
      run = ReduceByKey(engine(), keys, values, spec);
      ASSERT_TRUE(run.ok()) << run.status();
      const BinnedAxes axes{.keys = {&keys}, .edges = {edges}};
      CheckKeyedQuantiles(ElementsByBin(axes, false), values, spec, 4, 0, run->answer);
    }
  }
}

TEST_P(KeyedQuantilesTest, BesideStatisticsAndTheirPlaces) {
  const TestArray keys = MakeUniform(ElementType::kInt32, 5000, -20, 20, 8);
  const TestArray values = MakeVector(ElementType::kFloat32, 5000, DataKind::kWide, 9);
  KeyedReductionSpec spec = QuantilesOf(FoundKeysSpec{}, {0.5}, QuantileMethod::kMean);
  spec.reduction = SpecOf({Statistic::kSum, Statistic::kArgmax});
  const auto run = ReduceByKey(engine(), keys, values, spec);
  ASSERT_TRUE(run.ok()) << run.status();
  CheckKeyed(ElementsByKey(keys), values, spec.reduction, std::nullopt, 0, run->answer);
  CheckKeyedQuantiles(ElementsByKey(keys), values, spec, std::nullopt, 0, run->answer);
}

TEST_P(KeyedQuantilesTest, NoElements) {
  const TestArray nothing(ArrayDescription::Vector(ElementType::kInt32, 0));
  CheckFound(nothing, nothing, QuantilesOf(FoundKeysSpec{}, {0.5}));
  const KeyedReductionSpec spec = QuantilesOf(KeyRangeSpec{.key_count = 3}, {0.5});
  const auto run = ReduceByKey(engine(), nothing, nothing, spec);
  ASSERT_TRUE(run.ok()) << run.status();
  CheckKeyedQuantiles({}, nothing, spec, 3, 0, run->answer);
}

TEST_P(KeyedQuantilesTest, BadRequestsAreRefusedByField) {
  ExpectRefused(QuantilesOf(FoundKeysSpec{}, {}), "statistics");
  ExpectRefused(QuantilesOf(FoundKeysSpec{}, {0.5, 1.5}), "quantiles[1]");
  ExpectRefused(QuantilesOf(FoundKeysSpec{}, std::vector<double>(257, 0.5)), "quantiles");
  KeyedReductionSpec part = QuantilesOf(FoundKeysSpec{}, {0.5});
  part.reduction.return_states = true;
  ExpectRefused(part, "quantiles");
}

INSTANTIATE_TEST_SUITE_P(Cpu, KeyedQuantilesTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, KeyedQuantilesTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
