#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/plan_test_util.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kHuge = uint64_t{1} << 63;

struct BadReduction {
  const char* name;
  ArrayDescription array;
  ReductionSpec spec;
  std::string field;
};

GroupingSpec Axis0() { return {GroupingKind::kAxis0, {}}; }
GroupingSpec Axis1() { return {GroupingKind::kAxis1, {}}; }
GroupingSpec Segments(std::vector<uint64_t> offsets) {
  return {GroupingKind::kSegments, std::move(offsets)};
}

ReductionSpec Of(std::vector<Statistic> statistics, GroupingSpec grouping = {}) {
  ReductionSpec spec;
  spec.statistics = std::move(statistics);
  spec.grouping = std::move(grouping);
  return spec;
}

ReductionSpec WithDegreesOfFreedom(ReductionSpec spec, uint32_t ddof) {
  spec.delta_degrees_of_freedom = ddof;
  return spec;
}

const ArrayDescription kVector = ArrayDescription::Vector(ElementType::kInt32, 10);
const ArrayDescription kFloats = ArrayDescription::Vector(ElementType::kFloat32, 10);
const ArrayDescription kMatrix = ArrayDescription::Matrix(ElementType::kInt32, 2, 5);
const ArrayDescription kNothing = ArrayDescription::Vector(ElementType::kFloat64, 0);

ArrayDescription LyingMatrix(uint64_t rows, uint64_t columns, uint64_t count) {
  return {ElementType::kInt8, count, true, rows, columns};
}

std::vector<BadReduction> BadReductions() {
  using S = Statistic;
  const std::string offsets = "grouping.segments.offsets";
  return {
      {"none", kVector, Of({}), "statistics"},
      {"twice", kVector, Of({S::kSum, S::kMin, S::kSum}), "statistics[2]"},
      {"and_of_floats", kFloats, Of({S::kSum, S::kBitwiseAnd}), "statistics[1]"},
      {"or_of_floats", kFloats, Of({S::kBitwiseOr}), "statistics[0]"},
      {"xor_of_floats", kFloats, Of({S::kBitwiseXor}), "statistics[0]"},
      {"axis_0_of_vector", kVector, Of({S::kSum}, Axis0()), "grouping.axis"},
      {"axis_1_of_vector", kVector, Of({S::kSum}, Axis1()), "grouping.axis"},
      {"segments_of_matrix", kMatrix, Of({S::kSum}, Segments({0, 10})), "grouping.segments"},
      {"no_offsets", kVector, Of({S::kSum}, Segments({})), offsets},
      {"late_start", kVector, Of({S::kSum}, Segments({1, 10})), offsets + "[0]"},
      {"decreasing", kVector, Of({S::kSum}, Segments({0, 5, 4, 10})), offsets + "[2]"},
      {"early_end", kVector, Of({S::kSum}, Segments({0, 5, 9})), offsets + "[2]"},
      {"late_end", kVector, Of({S::kSum}, Segments({0, 11})), offsets + "[1]"},
      {"huge_end", kVector, Of({S::kSum}, Segments({0, ~uint64_t{0}})), offsets + "[1]"},
      {"min_of_nothing", kNothing, Of({S::kSum, S::kMin}), "statistics[1]"},
      {"max_of_nothing", kNothing, Of({S::kMax}), "statistics[0]"},
      {"argmin_of_nothing", kNothing, Of({S::kArgmin}), "statistics[0]"},
      {"argmax_of_nothing", kNothing, Of({S::kArgmax}), "statistics[0]"},
      {"mean_of_nothing", kNothing, Of({S::kMean}), "statistics[0]"},
      {"variance_of_nothing", kNothing, Of({S::kVariance}), "statistics[0]"},
      {"deviation_of_nothing", kNothing, Of({S::kStandardDeviation}), "statistics[0]"},
      {"min_of_empty_segment", kVector, Of({S::kMin}, Segments({0, 4, 4, 10})), "statistics[0]"},
      {"min_of_empty_rows", ArrayDescription::Matrix(ElementType::kInt8, 3, 0),
       Of({S::kMin}, Axis1()), "statistics[0]"},
      {"min_of_empty_columns", ArrayDescription::Matrix(ElementType::kInt8, 0, 3),
       Of({S::kMin}, Axis0()), "statistics[0]"},
      {"too_free", kVector, WithDegreesOfFreedom(Of({S::kVariance}), 10),
       "delta_degrees_of_freedom"},
      {"too_free_segment", kVector,
       WithDegreesOfFreedom(Of({S::kStandardDeviation}, Segments({0, 1, 10})), 1),
       "delta_degrees_of_freedom"},
      {"rows_overflow", LyingMatrix(kHuge, 2, 0), Of({S::kSum}), "array"},
      {"rows_lie", LyingMatrix(3, 3, 10), Of({S::kSum}, Axis0()), "array"},
      {"bytes_overflow", ArrayDescription::Vector(ElementType::kInt16, kHuge), Of({S::kSum}),
       "array"},
  };
}

TEST(ReductionPlanTest, RefusesBadSpecsAndNamesTheField) {
  for (const BadReduction& bad : BadReductions()) {
    SCOPED_TRACE(bad.name);
    ExpectInvalid(PlanReduction(bad.array, bad.spec).status(), bad.field);
  }
}

TEST(ReductionPlanTest, MessageNamesStatisticAndGroup) {
  const absl::Status status =
      PlanReduction(kVector, Of({Statistic::kArgmax}, Segments({0, 4, 4, 10}))).status();
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("argmax"));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("group 1"));
}

TEST(ReductionPlanTest, GroupsOfEveryKind) {
  struct Case {
    ArrayDescription array;
    GroupingSpec spec;
    uint64_t group_count;
    uint64_t group_size;
  };
  const Case cases[] = {
      {kVector, {}, 1, 10},
      {kMatrix, {}, 1, 10},
      {kMatrix, Axis0(), 5, 2},
      {kMatrix, Axis1(), 2, 5},
      {kVector, Segments({0, 3, 3, 10}), 3, 7},  // The longest.
      {kNothing, Segments({0}), 0, 0},
      {kNothing, {}, 1, 0},
      {ArrayDescription::Matrix(ElementType::kInt8, 7, 0), Axis0(), 0, 7},
      {ArrayDescription::Matrix(ElementType::kInt8, 7, 0), Axis1(), 7, 0},
  };
  for (const Case& c : cases) {
    const auto plan = PlanReduction(c.array, Of({Statistic::kSum, Statistic::kCount}, c.spec));
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->grouping.kind, c.spec.kind);
    EXPECT_EQ(plan->grouping.group_count, c.group_count);
    EXPECT_EQ(plan->grouping.group_size, c.group_size);
    EXPECT_EQ(plan->grouping.offsets, c.spec.offsets);
    EXPECT_EQ(plan->result_slot_count(), 2 * c.group_count);
  }
}

TEST(ReductionPlanTest, DegreesOfFreedomMatterToVarianceOnly) {
  EXPECT_TRUE(PlanReduction(kVector, WithDegreesOfFreedom(Of({Statistic::kMean}), 99)).ok());
  EXPECT_TRUE(PlanReduction(kVector, WithDegreesOfFreedom(Of({Statistic::kVariance}), 9)).ok());
}

TEST(ReductionPlanTest, PartsMayBeTooSmall) {
  ReductionSpec spec = WithDegreesOfFreedom(Of({Statistic::kMin, Statistic::kVariance}), 1);
  EXPECT_FALSE(PlanReduction(kNothing, spec).ok());
  spec.return_states = true;
  const auto plan = PlanReduction(kNothing, spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->return_states);
  spec.statistics = {Statistic::kSum, Statistic::kProduct};
  ExpectInvalid(PlanReduction(kFloats, spec).status(), "statistics[1]");
  EXPECT_TRUE(PlanReduction(kVector, spec).ok());
}

TEST(ReductionPlanTest, ResultHasColumnsOfTheRightKinds) {
  using S = Statistic;
  const auto plan = PlanReduction(
      ArrayDescription::Matrix(ElementType::kUint8, 2, 5),
      Of({S::kCount, S::kSum, S::kMin, S::kMean, S::kAll, S::kArgmin, S::kBitwiseXor}, Axis0()));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const ReductionResult result = MakeReductionResult(*plan);
  const ValueKind kinds[] = {ValueKind::kUint64, ValueKind::kUint64, ValueKind::kUint64,
                             ValueKind::kDouble, ValueKind::kBool,   ValueKind::kUint64,
                             ValueKind::kUint64};
  ASSERT_EQ(result.columns.size(), std::size(kinds));
  for (size_t i = 0; i < std::size(kinds); ++i) {
    EXPECT_EQ(result.columns[i].statistic, plan->statistics[i]);
    EXPECT_EQ(result.columns[i].kind, kinds[i]) << StatisticName(plan->statistics[i]);
    EXPECT_EQ(result.columns[i].slots, std::vector<uint64_t>(5, 0));
  }
}

TEST(StatisticTest, KindsOfElementValues) {
  EXPECT_EQ(ValueKindOf(Statistic::kSum, ElementType::kInt8), ValueKind::kInt64);
  EXPECT_EQ(ValueKindOf(Statistic::kSum, ElementType::kUint64), ValueKind::kUint64);
  EXPECT_EQ(ValueKindOf(Statistic::kMax, ElementType::kBfloat16), ValueKind::kDouble);
  EXPECT_EQ(ValueKindOf(Statistic::kL1Norm, ElementType::kInt8), ValueKind::kDouble);
  EXPECT_EQ(ValueKindOf(Statistic::kAny, ElementType::kFloat64), ValueKind::kBool);
  EXPECT_EQ(ValueKindOf(Statistic::kRange, ElementType::kInt8), ValueKind::kUint64);
  EXPECT_EQ(ValueKindOf(Statistic::kRange, ElementType::kUint64), ValueKind::kUint64);
  EXPECT_EQ(ValueKindOf(Statistic::kRange, ElementType::kFloat16), ValueKind::kDouble);
}

// Accumulators that are kept anywhere hold these numbers.
TEST(StatisticTest, NumbersStay) {
  EXPECT_EQ(static_cast<int>(Statistic::kCount), 0);
  EXPECT_STREQ(StatisticName(Statistic{9}), "standard_deviation");
  EXPECT_STREQ(StatisticName(Statistic{19}), "bitwise_xor");
  EXPECT_STREQ(ElementTypeName(ElementType{4}), "uint8");
  EXPECT_STREQ(ElementTypeName(ElementType{11}), "float64");
}

TEST(StatisticTest, EveryStatisticHasItsOwnName) {
  std::vector<std::string> names;
  for (int s = 0; s < kStatisticCount; ++s) names.push_back(StatisticName(Statistic(s)));
  EXPECT_EQ(names.front(), "count");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace gridfold::kernels
