#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/plan_test_util.h"
#include "kernels/contract/scan.h"

namespace gridfold::kernels {
namespace {

ScanSpec Of(ScanOperation operation, std::optional<ElementType> output_type = {}) {
  ScanSpec spec;
  spec.operation = operation;
  spec.output_type = output_type;
  return spec;
}

TEST(ScanPlanTest, OutputTypes) {
  using E = ElementType;
  using O = ScanOperation;
  struct Case {
    E type;
    O operation;
    std::optional<E> asked;
    std::optional<E> planned;  // Absent: an error.
  };
  const Case cases[] = {
      {E::kInt16, O::kSum, {}, E::kInt64},
      {E::kUint8, O::kProduct, {}, E::kUint64},
      {E::kFloat16, O::kSum, {}, E::kFloat16},
      {E::kInt16, O::kMin, {}, E::kInt16},
      {E::kInt16, O::kSum, E::kInt16, E::kInt16},
      {E::kFloat32, O::kProduct, E::kFloat64, E::kFloat64},
      {E::kUint32, O::kMax, E::kUint32, E::kUint32},
      {E::kInt16, O::kSum, E::kInt32, {}},
      {E::kInt16, O::kSum, E::kUint64, {}},
      {E::kUint16, O::kSum, E::kInt64, {}},
      {E::kFloat16, O::kSum, E::kFloat32, {}},
      {E::kFloat32, O::kSum, E::kInt64, {}},
      {E::kInt16, O::kMin, E::kInt64, {}},
      {E::kFloat32, O::kMax, E::kFloat64, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(ScanOperationName(c.operation)) + " of " + ElementTypeName(c.type));
    const auto plan = PlanScan(ArrayDescription::Vector(c.type, 10), Of(c.operation, c.asked));
    if (c.planned.has_value()) {
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(plan->output_type, *c.planned);
      EXPECT_EQ(plan->output_size_bytes(), 10 * ElementSize(*c.planned));
    } else {
      ExpectInvalid(plan.status(), "output_type");
    }
  }
}

TEST(ScanPlanTest, MovingScans) {
  using E = ElementType;
  using O = ScanOperation;
  const auto plan = [](E type, const ScanSpec& spec) {
    return PlanScan(ArrayDescription::Vector(type, 10), spec);
  };
  ScanSpec sum;
  sum.window = 4;
  sum.exact = true;
  sum.min_count = 4;
  ASSERT_TRUE(plan(E::kFloat16, sum).ok());
  EXPECT_EQ(plan(E::kFloat16, sum)->output_type, E::kFloat16);
  EXPECT_TRUE(plan(E::kFloat16, sum)->is_moving());
  EXPECT_FALSE(plan(E::kFloat16, sum)->exact);
  ExpectInvalid(plan(E::kInt8, sum).status(), "min_count");
  sum.min_count = 1;
  EXPECT_TRUE(plan(E::kInt8, sum).ok());
  sum.min_count = 5;
  ExpectInvalid(plan(E::kFloat32, sum).status(), "min_count");
  sum.min_count = 0;
  sum.mode = ScanMode::kExclusive;
  ExpectInvalid(plan(E::kFloat32, sum).status(), "mode");
  sum.mode = ScanMode::kInclusive;
  sum.window = 0;
  ExpectInvalid(plan(E::kFloat32, sum).status(), "window");
  sum.window = std::nullopt;
  sum.min_count = 1;
  ExpectInvalid(plan(E::kFloat32, sum).status(), "min_count");

  for (const O operation : {O::kProduct, O::kMin, O::kMax}) {
    ScanSpec other = Of(operation);
    other.window = 4;
    ExpectInvalid(plan(E::kFloat32, other).status(), "window");
  }

  EXPECT_EQ(plan(E::kInt8, Of(O::kMean))->output_type, E::kFloat64);
  EXPECT_EQ(plan(E::kFloat16, Of(O::kMean))->output_type, E::kFloat16);
  EXPECT_TRUE(plan(E::kInt8, Of(O::kMean))->is_moving());
  ExpectInvalid(plan(E::kInt8, Of(O::kMean, E::kInt8)).status(), "output_type");
  ExpectInvalid(plan(E::kFloat16, Of(O::kMean, E::kFloat32)).status(), "output_type");
}

TEST(ScanPlanTest, ExactScansAreSumsOfFloatingPointNumbers) {
  using E = ElementType;
  using O = ScanOperation;
  for (const E type : {E::kInt32, E::kUint8, E::kFloat16, E::kFloat64}) {
    for (const O operation : {O::kSum, O::kProduct, O::kMin, O::kMax}) {
      ScanSpec spec = Of(operation);
      EXPECT_FALSE(PlanScan(ArrayDescription::Vector(type, 10), spec)->exact);
      spec.exact = true;
      const auto plan = PlanScan(ArrayDescription::Vector(type, 10), spec);
      if (operation != O::kSum) {
        ExpectInvalid(plan.status(), "exact");
      } else {
        ASSERT_TRUE(plan.ok()) << plan.status();
        EXPECT_EQ(plan->exact, IsFloatingPoint(type));
      }
    }
  }
}

TEST(ScanPlanTest, BoundsTheNumberOfElements) {
  const ScanSpec spec = Of(ScanOperation::kSum);
  EXPECT_TRUE(PlanScan(ArrayDescription::Vector(ElementType::kInt8, kScanElementsMax), spec).ok());
  ExpectInvalid(
      PlanScan(ArrayDescription::Vector(ElementType::kInt8, kScanElementsMax + 1), spec).status(),
      "array");
  ExpectInvalid(PlanScan(ArrayDescription::Vector(ElementType::kInt8, ~uint64_t{0}), spec).status(),
                "array");
}

TEST(ScanPlanTest, HasTheErrorsOfGroupings) {
  ScanSpec spec = Of(ScanOperation::kSum);
  spec.grouping = {GroupingKind::kAxis1, {}};
  const ArrayDescription vector = ArrayDescription::Vector(ElementType::kInt8, 4);
  ExpectInvalid(PlanScan(vector, spec).status(), "grouping.axis");
  spec.grouping = {GroupingKind::kSegments, {0, 3, 2, 4}};
  ExpectInvalid(PlanScan(vector, spec).status(), "grouping.segments.offsets[2]");
  spec.grouping.offsets = {0, 0, 4, 4};
  const auto plan = PlanScan(vector, spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->grouping.group_count, 3u);
}

TEST(ScanPlanTest, ASingleColumnIsScannedAsAWholeArray) {
  ScanSpec spec = Of(ScanOperation::kSum);
  spec.grouping = {GroupingKind::kAxis0, {}};
  const auto column = PlanScan(ArrayDescription::Matrix(ElementType::kInt8, 10, 1), spec);
  ASSERT_TRUE(column.ok()) << column.status();
  EXPECT_EQ(column->grouping.kind, GroupingKind::kWhole);
  EXPECT_EQ(column->grouping.group_count, 1u);
  EXPECT_EQ(column->grouping.group_size, 10u);
  const auto columns = PlanScan(ArrayDescription::Matrix(ElementType::kInt8, 10, 2), spec);
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_EQ(columns->grouping.kind, GroupingKind::kAxis0);
}

TEST(ScanPlanTest, KeepsWhatWasAskedFor) {
  ScanSpec spec = Of(ScanOperation::kProduct);
  spec.mode = ScanMode::kExclusive;
  spec.direction = ScanDirection::kReverse;
  spec.nan_policy = NanPolicy::kIgnore;
  spec.overflow_policy = OverflowPolicy::kWrap;
  const auto plan = PlanScan(ArrayDescription::Vector(ElementType::kInt8, 4), spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->operation, ScanOperation::kProduct);
  EXPECT_EQ(plan->mode, ScanMode::kExclusive);
  EXPECT_EQ(plan->direction, ScanDirection::kReverse);
  EXPECT_EQ(plan->nan_policy, NanPolicy::kIgnore);
  EXPECT_EQ(plan->overflow_policy, OverflowPolicy::kWrap);
}

}  // namespace
}  // namespace gridfold::kernels
