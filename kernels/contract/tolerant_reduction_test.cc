// What is refused; values are tested on engines (conformance/empty_groups_test.cc).
#include "kernels/contract/tolerant_reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

using S = Statistic;

ReductionSpec OfPart(std::vector<S> statistics, std::vector<uint64_t> offsets) {
  ReductionSpec spec;
  spec.statistics = std::move(statistics);
  spec.grouping = {GroupingKind::kSegments, std::move(offsets)};
  return spec;
}

absl::StatusOr<TolerantReduction> PlanOf(std::vector<S> statistics, const EmptyGroupRule& rule,
                                         double ddof = 0, ElementType type = ElementType::kInt32) {
  return TolerantReduction::Plan(ArrayDescription::Vector(type, 9),
                                 OfPart(std::move(statistics), {0, 2, 9}), rule, ddof);
}

TEST(TolerantReductionTest, IsPlainWhereEveryGroupHasValues) {
  const EmptyGroupRule null{EmptyGroupPolicy::kNull};
  EXPECT_TRUE(PlanOf({S::kMean, S::kVariance}, null, 1)->is_plain());
  EXPECT_FALSE(PlanOf({S::kMean, S::kVariance}, null, 2)->is_plain());
  EXPECT_TRUE(PlanOf({S::kMean, S::kSum}, null, 1.5)->is_plain());
  EXPECT_FALSE(PlanOf({S::kMean, S::kStandardError}, {}, 1.5)->is_plain());
  EXPECT_FALSE(PlanOf({S::kVariance}, {}, -1)->is_plain());
}

TEST(TolerantReductionTest, RefusesGroupsThatTheRuleDoesNotForgive) {
  ExpectInvalid(PlanOf({S::kSum, S::kVariance}, {}, 2).status(), "delta_degrees_of_freedom");
  ExpectInvalid(PlanOf({S::kSum, S::kVariance}, {}, 2.5).status(), "fractional_degrees_of_freedom");
  EXPECT_TRUE(PlanOf({S::kSum, S::kVariance}, {EmptyGroupPolicy::kNan}, 2.5).ok());
  ExpectInvalid(PlanOf({S::kVariance}, {}, NAN).status(), "fractional_degrees_of_freedom");
}

TEST(TolerantReductionTest, RefusesAValueThatDoesNotFit) {
  const EmptyGroupRule half{EmptyGroupPolicy::kValue, 0.5};
  EXPECT_TRUE(PlanOf({S::kSum, S::kMean}, half).ok());
  EXPECT_TRUE(PlanOf({S::kMax}, half, 0, ElementType::kFloat16).ok());
  ExpectInvalid(PlanOf({S::kMax}, half).status(), "empty_group.value");
  ExpectInvalid(PlanOf({S::kArgmax}, {EmptyGroupPolicy::kValue, int64_t{-1}}).status(),
                "empty_group.value");
}

}  // namespace
}  // namespace gridfold::kernels
