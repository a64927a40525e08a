// Reductions in which some groups have no value of some statistics: whatever has one has that of
// its elements by themselves.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/tolerant_reduction.h"

namespace gridfold::kernels::conformance {
namespace {

// Sizes around the degrees of freedom, and around what engines take at a time.
const std::vector<uint64_t> kSizes = {0, 1, 2, 3, 0, 4, 33, 0, 2, 500, 1, 3, 6000, 0};

class EmptyGroupsTest : public EngineTest {
 protected:
  absl::StatusOr<TolerantResult> Run(const TestArray& array, const ReductionSpec& spec,
                                     const EmptyGroupRule& rule, double ddof) {
    const auto reduction = TolerantReduction::Plan(array.description(), spec, rule, ddof);
    if (!reduction.ok()) return reduction.status();
    ReductionResult values;
    ReductionResult places;
    RunStatistics run;
    if (!reduction->values_plan().statistics.empty()) {
      auto result = engine().lane().RunReduction(reduction->values_plan(), array.span(), {}, run);
      if (!result.ok()) return result.status();
      values = *std::move(result);
    }
    const ReductionPlan& plan = reduction->places_plan();
    if (!plan.statistics.empty()) {
      auto result = engine().lane().RunReduction(plan.return_states ? PlanStates(plan) : plan,
                                                 array.span(), {}, run);
      if (!result.ok()) return result.status();
      places = *std::move(result);
    }
    return reduction->Finish(values, places);
  }

  // The elements of one group as an array.
  static TestArray Part(const TestArray& array, const GroupElements& group) {
    TestArray part(ArrayDescription::Vector(array.type(), group.count));
    const size_t size = ElementSize(array.type());
    for (uint64_t i = 0; i < group.count; ++i) {
      std::memcpy(part.mutable_data() + i * size, array.data() + group.index(i) * size, size);
    }
    return part;
  }

  static uint64_t CountOf(const TestArray& part, NanPolicy policy) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < part.size(); ++i) {
      count += policy == NanPolicy::kIgnore && std::isnan(part[i]) ? 0 : 1;
    }
    return count;
  }

  // Every group against the reduction of its elements alone.
  void Check(const TestArray& array, ReductionSpec spec, const EmptyGroupRule& rule,
             uint32_t ddof) {
    SCOPED_TRACE(Describe(array.description()));
    const auto answer = Run(array, spec, rule, ddof);
    ASSERT_TRUE(answer.ok()) << answer.status();
    const std::vector<GroupElements> groups = GroupsOf(array.description(), spec.grouping);
    for (uint64_t g = 0; g < groups.size(); ++g) {
      const TestArray part = Part(array, groups[g]);
      const uint64_t count = CountOf(part, spec.nan_policy);
      for (size_t i = 0; i < spec.statistics.size(); ++i) {
        SCOPED_TRACE(std::string(StatisticName(spec.statistics[i])) + " of group " +
                     std::to_string(g));
        CheckValue(part, spec, rule, ddof, count, *answer, i, g);
      }
    }
  }

  void CheckValue(const TestArray& part, const ReductionSpec& spec, const EmptyGroupRule& rule,
                  uint32_t ddof, uint64_t count, const TolerantResult& answer, size_t i,
                  uint64_t g) {
    const Statistic statistic = spec.statistics[i];
    const StatisticTraits traits = TraitsOf(statistic);
    const bool lacks =
        (traits.needs_elements && count == 0) || (traits.uses_degrees_of_freedom && count <= ddof);
    const std::string& validity = answer.validity[i];
    const bool is_valid = validity.empty() || (validity[g / 8] >> g % 8 & 1) != 0;
    EXPECT_EQ(is_valid, !(lacks && rule.policy == EmptyGroupPolicy::kNull));
    const StatisticColumn& column = answer.result.columns[i];
    if (!lacks) {
      ReductionSpec alone = SpecOf({statistic});
      alone.nan_policy = spec.nan_policy;
      alone.overflow_policy = spec.overflow_policy;
      alone.delta_degrees_of_freedom = ddof;
      const auto expected = engine().Reduce(part, alone);
      ASSERT_TRUE(expected.ok()) << expected.status();
      const StatisticColumn value{statistic, column.kind, {column.slots[g]}};
      EXPECT_TRUE(SameSlots(value, expected->columns[0]));
    } else if (rule.policy == EmptyGroupPolicy::kNan) {
      EXPECT_TRUE(std::isnan(std::bit_cast<double>(column.slots[g])));
    } else {
      const uint64_t value = rule.policy == EmptyGroupPolicy::kNull ? 0
                             : column.kind == ValueKind::kDouble    ? std::bit_cast<uint64_t>(77.0)
                                                                    : 77;
      EXPECT_EQ(column.slots[g], value);
    }
  }

  static ReductionSpec Everything(const TestArray& array, GroupingSpec grouping) {
    ReductionSpec spec = SpecOfAll(array.description(), false);
    spec.grouping = std::move(grouping);
    spec.overflow_policy = OverflowPolicy::kWrap;
    return spec;
  }
};

GroupingSpec RaggedSegments() {
  std::vector<uint64_t> offsets = {0};
  for (const uint64_t size : kSizes) offsets.push_back(offsets.back() + size);
  return {GroupingKind::kSegments, offsets};
}

const EmptyGroupRule kNull{EmptyGroupPolicy::kNull};
const EmptyGroupRule kSeventySeven{EmptyGroupPolicy::kValue, int64_t{77}};

TEST_P(EmptyGroupsTest, Segments) {
  for (const ElementType type : kAllTypes) {
    const GroupingSpec grouping = RaggedSegments();
    const TestArray array =
        MakeVector(type, grouping.offsets.back(), DataKind::kSmall, 5, ElementSize(type));
    const ReductionSpec spec = Everything(array, grouping);
    Check(array, spec, kNull, 2);
    Check(array, spec, kSeventySeven, 1);
  }
}

TEST_P(EmptyGroupsTest, GroupsOfNothingButIgnoredNans) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const GroupingSpec grouping = RaggedSegments();
    TestArray array = MakeVector(type, grouping.offsets.back(), DataKind::kSmall, 6);
    for (const size_t group : {size_t{1}, size_t{5}, size_t{9}}) {
      for (uint64_t i = grouping.offsets[group]; i < grouping.offsets[group + 1]; ++i) {
        array.Set(i, NAN);
      }
    }
    array.Set(grouping.offsets[12] + 100, NAN);
    ReductionSpec spec = Everything(array, grouping);
    spec.nan_policy = NanPolicy::kIgnore;
    std::erase(spec.statistics, Statistic::kProduct);  // Its tree knows the place in the whole.
    Check(array, spec, kNull, 0);
    Check(array, spec, kSeventySeven, 3);
  }
}

TEST_P(EmptyGroupsTest, AxesAndWholeArrays) {
  for (const ElementType type : {ElementType::kInt16, ElementType::kFloat32}) {
    for (const auto& [rows, columns] : {std::pair<uint64_t, uint64_t>{0, 7}, {7, 0}, {2, 9}}) {
      const TestArray array =
          MakeData(ArrayDescription::Matrix(type, rows, columns), DataKind::kSmall, 7);
      for (const GroupingKind kind :
           {GroupingKind::kAxis0, GroupingKind::kAxis1, GroupingKind::kWhole}) {
        Check(array, Everything(array, {kind, {}}), kNull, 2);
      }
    }
  }
}

TEST_P(EmptyGroupsTest, NothingButEmptySegments) {
  const TestArray array = MakeVector(ElementType::kFloat64, 0, DataKind::kSmall, 10);
  Check(array, Everything(array, {GroupingKind::kSegments, {0, 0, 0}}), kNull, 0);
}

TEST_P(EmptyGroupsTest, NanWhereValuesAreReal) {
  const GroupingSpec grouping = RaggedSegments();
  const TestArray array =
      MakeVector(ElementType::kInt32, grouping.offsets.back(), DataKind::kSmall, 8);
  ReductionSpec spec = SpecOf({Statistic::kMean, Statistic::kSum, Statistic::kVariance});
  spec.grouping = grouping;
  const EmptyGroupRule rule{EmptyGroupPolicy::kNan};
  Check(array, spec, rule, 1);
  spec.statistics.push_back(Statistic::kMax);
  EXPECT_EQ(Run(array, spec, rule, 1).status().message(),
            "statistics[3]: max of no elements (group 0 is empty)");
}

// Against sums of long double, of which numbers of halves are exact.
TEST_P(EmptyGroupsTest, FractionalAndNegativeDegreesOfFreedom) {
  const GroupingSpec grouping = RaggedSegments();
  for (const double ddof : {1.5, -2.0, 2.25, -0.5}) {
    for (const ElementType type : {ElementType::kInt16, ElementType::kFloat64}) {
      const TestArray array = MakeVector(type, grouping.offsets.back(), DataKind::kSmall, 9);
      ReductionSpec spec = SpecOf({Statistic::kStandardDeviation, Statistic::kVariance,
                                   Statistic::kStandardError, Statistic::kMean});
      spec.grouping = grouping;
      const auto answer = Run(array, spec, kNull, ddof);
      ASSERT_TRUE(answer.ok()) << answer.status();
      const auto groups = GroupsOf(array.description(), grouping);
      for (uint64_t g = 0; g < groups.size(); ++g) {
        const auto count = static_cast<long double>(groups[g].count);
        const bool lacks = groups[g].count == 0 || count <= ddof;
        EXPECT_EQ((answer->validity[1][g / 8] >> g % 8 & 1) != 0, !lacks);
        if (lacks) continue;
        long double sum = 0;
        long double squares = 0;
        for (uint64_t i = 0; i < groups[g].count; ++i) sum += array[groups[g].index(i)];
        for (uint64_t i = 0; i < groups[g].count; ++i) {
          const long double deviation = array[groups[g].index(i)] - sum / count;
          squares += deviation * deviation;
        }
        const long double variance = squares / (count - ddof);
        const auto expect_near = [&](size_t column, long double expected) {
          const double value = std::bit_cast<double>(answer->result.columns[column].slots[g]);
          EXPECT_NEAR(value, static_cast<double>(expected), 8e-16 * static_cast<double>(expected));
        };
        expect_near(0, std::sqrt(variance));
        expect_near(1, variance);
        expect_near(2, std::sqrt(variance / count));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, EmptyGroupsTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, EmptyGroupsTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
