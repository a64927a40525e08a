// Plans of quantiles and of the largest or smallest elements.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/contract/axes.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/plan_test_util.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/top.h"

namespace gridfold::kernels {
namespace {

const ArrayDescription kTen = ArrayDescription::Vector(ElementType::kFloat32, 10);

TEST(QuantilePlanTest, NamesWhatIsWrong) {
  const auto field = [](const QuantileSpec& spec) {
    return FieldOf(PlanQuantiles(kTen, spec).status());
  };
  EXPECT_EQ(field({}), "quantiles");
  EXPECT_EQ(field({.quantiles = {0.5, 1.5}}), "quantiles[1]");
  EXPECT_EQ(field({.quantiles = {-0.1}}), "quantiles[0]");
  EXPECT_EQ(field({.quantiles = {NAN}}), "quantiles[0]");
  EXPECT_EQ(field({.quantiles = std::vector<double>(257)}), "quantiles");
  EXPECT_EQ(field({.quantiles = {0.5}, .ranks = std::vector<uint64_t>(256)}), "ranks");
  EXPECT_EQ(field({.ranks = {0, 10}}), "ranks[1]");
  EXPECT_EQ(field({.quantiles = {0.5}, .grouping = {GroupingKind::kSegments, {0, 10, 10}}}),
            "array");
  EXPECT_EQ(field({.ranks = {3}, .grouping = {GroupingKind::kSegments, {0, 7, 10}}}), "ranks[0]");
  EXPECT_EQ(
      FieldOf(PlanQuantiles(ArrayDescription::Vector(ElementType::kInt8, 0), {.quantiles = {0.5}})
                  .status()),
      "array");
  EXPECT_TRUE(PlanQuantiles(kTen, {.quantiles = {0, -0.0, 1}, .ranks = {9}}).ok());
}

TEST(QuantilePlanTest, KindsOfValues) {
  const auto array = ArrayDescription::Vector(ElementType::kUint16, 10);
  auto plan = PlanQuantiles(array, {.quantiles = {0.5}, .ranks = {1}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(KindOfTarget(*plan, 0), ValueKind::kDouble);
  EXPECT_EQ(KindOfTarget(*plan, 1), ValueKind::kUint64);
  plan = PlanQuantiles(array, {.quantiles = {0.5}, .method = QuantileMethod::kNearest});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(KindOfTarget(*plan, 0), ValueKind::kUint64);
}

TEST(TopPlanTest, NamesWhatIsWrong) {
  const auto field = [](const TopSpec& spec) { return FieldOf(PlanTop(kTen, spec).status()); };
  EXPECT_EQ(field({}), "count");
  EXPECT_EQ(field({.count = 11}), "count");
  EXPECT_EQ(field({.count = 4, .grouping = {GroupingKind::kSegments, {0, 7, 10}}}), "count");
  EXPECT_EQ(field({.count = 1, .grouping = {GroupingKind::kSegments, {0, 0, 10}}}), "array");
  const auto plan = PlanTop(kTen, {.count = 3, .grouping = {GroupingKind::kSegments, {0, 7, 10}}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->result_count(), 6u);
}

TEST(OrderPlanTest, ColumnsAreMadeRows) {
  const ShapedArray matrix(ElementType::kInt32, Shape{5, 7});
  const AxesPlan columns = PlanContiguousAxes(matrix, AxisBit(0));
  EXPECT_EQ(columns.grouping, GroupingKind::kAxis1);
  EXPECT_EQ(columns.array.rows, 7u);
  EXPECT_EQ(columns.array.columns, 5u);
  ASSERT_TRUE(columns.rearrangement.has_value());
  EXPECT_FALSE(PlanContiguousAxes(matrix, AxisBit(1)).rearrangement.has_value());
  EXPECT_EQ(PlanContiguousAxes(matrix, AllAxes(2)).grouping, GroupingKind::kWhole);
  const AxesPlan channels =
      PlanContiguousAxes({ElementType::kInt8, Shape{2, 3, 4, 5}}, AxisBit(0) | AxisBit(2));
  EXPECT_EQ(channels.grouping, GroupingKind::kAxis1);
  EXPECT_EQ(channels.array.rows, 15u);
  EXPECT_EQ(channels.array.columns, 8u);
  EXPECT_FALSE(
      PlanQuantiles(columns.array, {.quantiles = {0.5}, .grouping = {GroupingKind::kAxis0, {}}})
          .ok());
}

}  // namespace
}  // namespace gridfold::kernels
