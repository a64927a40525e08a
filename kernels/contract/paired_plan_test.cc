// Plans of statistics of two columns.
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/contract/invalid_field.h"
#include "kernels/contract/paired.h"

namespace gridfold::kernels {
namespace {

using enum PairedStatistic;

const ArrayDescription kTen = ArrayDescription::Vector(ElementType::kFloat32, 10);

TEST(PairedPlanTest, NamesWhatIsWrong) {
  const auto field = [](const PairedSpec& spec) {
    return FieldOf(PlanPaired(kTen, spec).status());
  };
  EXPECT_EQ(field({}), "statistics");
  EXPECT_EQ(field({.statistics = {kDot, kMean, kDot}}), "statistics[2]");
  EXPECT_EQ(field({.statistics = {kCovariance}, .delta_degrees_of_freedom = 10}),
            "delta_degrees_of_freedom");
  EXPECT_EQ(field({.statistics = {kVariance}, .delta_degrees_of_freedom = 9}), "");
  EXPECT_EQ(field({.statistics = {kCorrelation}, .delta_degrees_of_freedom = 10}), "");
  // Only the weights tell.
  EXPECT_EQ(
      field({.statistics = {kCovariance}, .has_weights = true, .delta_degrees_of_freedom = 10}),
      "");
  const auto none = ArrayDescription::Vector(ElementType::kInt8, 0);
  EXPECT_EQ(FieldOf(PlanPaired(none, {.statistics = {kDot, kMean}}).status()), "statistics[1]");
}

TEST(PairedPlanTest, Columns) {
  const auto columns = [](uint64_t count) {
    return PlanPaired(ArrayDescription::Matrix(ElementType::kInt8, 3, count),
                      {.statistics = {kDot, kMean}});
  };
  EXPECT_EQ(FieldOf(columns(0).status()), "x");
  EXPECT_EQ(FieldOf(columns(65).status()), "x");
  const PairedPlan plan = columns(64).value();
  EXPECT_EQ(plan.observation_count, 3u);
  EXPECT_EQ(plan.ValueCount(kDot), 64u * 64);
  EXPECT_EQ(plan.ValueCount(kMean), 64u);
  EXPECT_EQ(plan.terms.size(), 64u * 65 / 2 + 64);
}

// Each sum once, whatever needs it.
TEST(PairedPlanTest, Terms) {
  const auto count = [](const PairedSpec& spec) { return PlanPaired(kTen, spec)->terms.size(); };
  EXPECT_EQ(count({.statistics = {kDot}, .has_y = true}), 1u);
  EXPECT_EQ(count({.statistics = {kDot, kCovariance}, .has_y = true}), 3u);
  EXPECT_EQ(
      count({.statistics = {kDot, kCovariance, kCorrelation, kMean, kVariance}, .has_y = true}),
      5u);
  EXPECT_EQ(count({.statistics = {kMean}, .has_weights = true}), 2u);
  EXPECT_EQ(count({.statistics = {kMean, kVariance}, .has_weights = true}), 4u);
}

}  // namespace
}  // namespace gridfold::kernels
