#include "kernels/contract/axes.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

constexpr ElementType kType = ElementType::kInt16;

AxesPlan Plan(const Shape& shape, AxisSet axes) { return PlanAxes({kType, shape}, axes); }

void ExpectMatrix(const AxesPlan& plan, GroupingKind grouping, uint64_t rows, uint64_t columns) {
  EXPECT_EQ(plan.grouping, grouping);
  EXPECT_TRUE(plan.array.is_matrix);
  EXPECT_EQ(plan.array.rows, rows);
  EXPECT_EQ(plan.array.columns, columns);
}

TEST(AxesTest, NeighboursThatAreTreatedAlikeAreOne) {
  ExpectMatrix(Plan({2, 3, 5, 7}, 0b0011), GroupingKind::kAxis0, 6, 35);
  ExpectMatrix(Plan({2, 3, 5, 7}, 0b1110), GroupingKind::kAxis1, 2, 105);
  ExpectMatrix(Plan({2, 1, 5, 1}, 0b1010), GroupingKind::kAxis1, 10, 1);
  EXPECT_FALSE(Plan({2, 1, 5, 1}, 0b1010).rearrangement.has_value());
  EXPECT_EQ(Plan({2, 3}, 0b11).grouping, GroupingKind::kWhole);
  EXPECT_EQ(Plan({}, 0).grouping, GroupingKind::kWhole);
  EXPECT_EQ(Plan({}, 0).array.element_count, 1u);
}

TEST(AxesTest, TheInnermostDimensionStaysInnermost) {
  const AxesPlan columns = Plan({2, 3, 5}, 0b010);
  ExpectMatrix(columns, GroupingKind::kAxis0, 3, 10);
  ASSERT_TRUE(columns.rearrangement.has_value());
  EXPECT_EQ(columns.rearrangement->run, 5u);
  const AxesPlan rows = Plan({2, 3, 5}, 0b101);
  ExpectMatrix(rows, GroupingKind::kAxis1, 3, 10);
  ASSERT_TRUE(rows.rearrangement.has_value());
  EXPECT_EQ(rows.rearrangement->run, 5u);
}

void ExpectInPlace(const Shape& shape, AxisSet axes, const ArrayDescription& array,
                   GroupingKind grouping, const StateGrid& states) {
  const AxesPlan plan = Plan(shape, axes);
  ASSERT_TRUE(plan.in_place.has_value());
  EXPECT_EQ(plan.in_place->grouping, grouping);
  EXPECT_EQ(plan.in_place->states, states);
  const ArrayDescription& actual = plan.in_place->array;
  EXPECT_EQ(actual.element_count, array.element_count);
  EXPECT_EQ(actual.matrices, array.matrices);
  EXPECT_EQ(actual.rows, array.rows);
  EXPECT_EQ(actual.columns, array.columns);
}

TEST(AxesTest, OtherPatternsCanBeReducedInPlace) {
  const auto stack = [](uint64_t matrices, uint64_t rows, uint64_t columns) {
    return ArrayDescription::Stack(kType, matrices, rows, columns);
  };
  const auto rows = [](uint64_t count, uint64_t size) {
    return ArrayDescription::Matrix(kType, count, size);
  };
  ExpectInPlace({2, 3, 5}, 0b010, stack(2, 3, 5), GroupingKind::kAxis0, {1, 1, 10, 3});
  ExpectInPlace({2, 3, 5, 7}, 0b0101, stack(6, 5, 7), GroupingKind::kAxis0, {1, 2, 21, 5});
  ExpectInPlace({2, 3, 5, 7, 11}, 0b01010, stack(30, 7, 11), GroupingKind::kAxis0, {2, 3, 55, 7});
  ExpectInPlace({2, 3, 5}, 0b101, rows(6, 5), GroupingKind::kAxis1, {1, 2, 3, 5});
  ExpectInPlace({2, 3, 5, 7}, 0b1010, rows(30, 7), GroupingKind::kAxis1, {2, 3, 5, 7});
  EXPECT_FALSE(Plan({2, 3, 5, 7, 11}, 0b10101).in_place.has_value());
  EXPECT_FALSE(Plan({2, 3}, 0b01).in_place.has_value());
  EXPECT_FALSE(PlanContiguousAxes({kType, {2, 3, 5}}, 0b001).in_place.has_value());
}

AxesPlan PlanView(const StridedView& view, AxisSet axes, bool keeps_order = true) {
  return PlanViewAxes(kType, view, axes, keeps_order);
}

void ExpectPitches(const AxesPlan& plan, const ArrayDescription& array, const Pitches& pitches,
                   GroupingKind grouping, const StateGrid& states) {
  ASSERT_TRUE(plan.rearrangement.has_value());
  ASSERT_TRUE(plan.in_place.has_value());
  EXPECT_EQ(plan.in_place->grouping, grouping);
  EXPECT_EQ(plan.in_place->states, states);
  const ArrayDescription& actual = plan.in_place->array;
  EXPECT_EQ(actual.element_count, array.element_count);
  EXPECT_EQ(actual.matrices, array.matrices);
  EXPECT_EQ(actual.rows, array.rows);
  EXPECT_EQ(actual.columns, array.columns);
  ASSERT_TRUE(actual.pitches.has_value());
  EXPECT_EQ(actual.pitches->row, pitches.row);
  if (actual.matrices > 1) {
    EXPECT_EQ(actual.pitches->matrix, pitches.matrix);
  }
}

TEST(AxesTest, ViewsWithGapsCanBeReducedInPlace) {
  const auto stack = [](uint64_t matrices, uint64_t rows, uint64_t columns) {
    return ArrayDescription::Stack(kType, matrices, rows, columns);
  };
  // Rows 1 to 3, columns 2 to 6 of [8, 10].
  const StridedView crop{12, {{3, 10}, {5, 1}}};
  ExpectMatrix(PlanView(crop, 0b01), GroupingKind::kAxis0, 3, 5);
  ExpectPitches(PlanView(crop, 0b01), stack(1, 3, 5), {10}, GroupingKind::kAxis0, {1, 1, 5, 3});
  ExpectMatrix(PlanView(crop, 0b10), GroupingKind::kAxis1, 3, 5);
  ExpectPitches(PlanView(crop, 0b10), stack(1, 3, 5), {10}, GroupingKind::kAxis1, {1, 1, 3, 5});
  EXPECT_EQ(PlanView(crop, 0b11).grouping, GroupingKind::kWhole);
  ExpectPitches(PlanView(crop, 0b11), stack(1, 3, 5), {10}, GroupingKind::kAxis1, {1, 3, 1, 5});
  EXPECT_EQ(PlanView(crop, 0b10).in_place->array.span_elements(), 25u);
  // Its transpose has the same groups along the other axis.
  const StridedView turned{12, {{5, 1}, {3, 10}}};
  ExpectPitches(PlanView(turned, 0b10), stack(1, 3, 5), {10}, GroupingKind::kAxis0, {1, 1, 5, 3});
  // Of [4, 6, 10]: two matrices, three rows of each, five columns.
  const StridedView box{0, {{2, 120}, {3, 20}, {5, 1}}};
  ExpectPitches(PlanView(box, 0b001), stack(3, 2, 5), {120, 20}, GroupingKind::kAxis0,
                {1, 1, 15, 2});
  ExpectPitches(PlanView(box, 0b010), stack(2, 3, 5), {20, 120}, GroupingKind::kAxis0,
                {1, 1, 10, 3});
  ExpectPitches(PlanView(box, 0b011), stack(2, 3, 5), {20, 120}, GroupingKind::kAxis0,
                {1, 2, 5, 3});
  ExpectPitches(PlanView(box, 0b100), stack(2, 3, 5), {20, 120}, GroupingKind::kAxis1,
                {1, 1, 6, 5});
  ExpectPitches(PlanView(box, 0b101), stack(2, 3, 5), {20, 120}, GroupingKind::kAxis1,
                {1, 2, 3, 5});
  ExpectPitches(PlanView(box, 0b110), stack(2, 3, 5), {20, 120}, GroupingKind::kAxis1,
                {2, 3, 1, 5});
  ExpectPitches(PlanView(box, 0b111), stack(2, 3, 5), {20, 120}, GroupingKind::kAxis1,
                {1, 6, 1, 5});
  EXPECT_EQ(PlanView(box, 0b111).in_place->array.span_elements(), 120u + 40u + 5u);
  // Planes that go on evenly are one dimension.
  ExpectPitches(PlanView({0, {{4, 60}, {6, 10}, {5, 1}}}, 0b100), stack(1, 24, 5), {10},
                GroupingKind::kAxis1, {1, 1, 24, 5});
}

TEST(AxesTest, OtherViewsAreCopied) {
  // Elements apart from each other; columns backwards; three distances; no axis at all.
  EXPECT_FALSE(PlanView({0, {{3, 20}, {5, 2}}}, 0b01).in_place.has_value());
  EXPECT_FALSE(PlanView({4, {{3, 10}, {5, -1}}}, 0b01, false).in_place.has_value());
  EXPECT_FALSE(PlanView({0, {{2, 999}, {2, 300}, {2, 20}, {5, 1}}}, 0b1000).in_place.has_value());
  EXPECT_FALSE(PlanView({0, {{3, 10}, {5, 1}}}, 0b00).in_place.has_value());
  // Rows backwards, unless their order does not matter.
  const StridedView backwards{20, {{3, -10}, {5, 1}}};
  EXPECT_FALSE(PlanView(backwards, 0b01).in_place.has_value());
  EXPECT_TRUE(PlanView(backwards, 0b01, false).in_place.has_value());
  // Copies are in the order that the groups want.
  const AxesPlan copied = PlanView({0, {{2, 1'000}, {3, 50}, {5, 3}}}, 0b010);
  ExpectMatrix(copied, GroupingKind::kAxis0, 3, 10);
  EXPECT_EQ(copied.rearrangement->element_count(), 30u);
  EXPECT_FALSE(PlanView({0, {{2, 15}, {3, 5}, {5, 1}}}, 0b011).rearrangement.has_value());
}

TEST(AxesTest, WithoutElementsThereAreGroupsAllTheSame) {
  ExpectMatrix(Plan({4, 0, 6}, 0b010), GroupingKind::kAxis1, 24, 0);
  ExpectMatrix(Plan({0, 3, 6}, 0b010), GroupingKind::kAxis1, 0, 3);
  constexpr uint64_t kMany = uint64_t{1} << 40;
  EXPECT_EQ(Plan({kMany, kMany, 0}, 0b100).array.rows, UINT64_MAX);
}

TEST(AxesTest, ResultsHaveTheOtherExtents) {
  EXPECT_EQ(ReducedShape({2, 3, 5}, 0b101, false), Shape({3}));
  EXPECT_EQ(ReducedShape({2, 3, 5}, 0b101, true), Shape({1, 3, 1}));
  EXPECT_EQ(ReducedShape({2, 3}, 0b11, false), Shape());
  EXPECT_EQ(ReducedShape({}, 0, true), Shape());
}

}  // namespace
}  // namespace gridfold::kernels
