// The layout of reductions along axis 0, judged without a device.
#include "gtest/gtest.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/plan/geometry_test.h"

namespace gridfold::kernels::cuda {
namespace {

TEST(ReduceColumnGeometryTest, RowsOfFewColumnsAreSplit) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kInt32}) {
    const ReductionPlan plan =
        Plan(ArrayDescription::Matrix(type, 100'000'000, 3), {GroupingKind::kAxis0, {}});
    const ReductionGeometry geometry = PlanReductionGeometry(plan, Properties(132));
    EXPECT_EQ(geometry.tile_columns_log2, 2u);
    EXPECT_EQ(geometry.column_tile_count, 1u);
    EXPECT_GE(geometry.splits, 132u);
  }
}

TEST(ReduceColumnGeometryTest, SumsOfFloat64ColumnsHaveAKernelOfTheirOwn) {
  const auto geometry = [](uint64_t rows, uint64_t columns, std::vector<Statistic> statistics) {
    return PlanReductionGeometry(
        Plan(ArrayDescription::Matrix(ElementType::kFloat64, rows, columns),
             {GroupingKind::kAxis0, {}}, statistics),
        Properties(132));
  };
  const auto has_own = [&](uint64_t rows, uint64_t count, std::vector<Statistic> statistics) {
    return geometry(rows, count, statistics).first_columns.grid_blocks > 0;
  };
  EXPECT_TRUE(has_own(8, 1 << 16, {Statistic::kSum}));
  EXPECT_FALSE(has_own(7, 1 << 17, {Statistic::kSum}));
  EXPECT_FALSE(has_own(8, (1 << 16) - 1, {Statistic::kSum}));
  EXPECT_TRUE(has_own(8, 1 << 16, {Statistic::kMean, Statistic::kCount}));
  EXPECT_FALSE(has_own(8, 1 << 16, {Statistic::kSum, Statistic::kVariance}));
  const auto form = [&](uint64_t rows, uint64_t count) {
    return geometry(rows, count, {Statistic::kSum}).first_columns.form;
  };
  EXPECT_EQ(form(128, 1 << 20), ReductionForm::kWholeColumns);
  EXPECT_EQ(form(8, 1 << 24), ReductionForm::kWholeColumns);
  EXPECT_EQ(form(8, 1 << 16), ReductionForm::kColumnItems);
  EXPECT_EQ(form(1 << 25, 4), ReductionForm::kColumnItems);
  // Tiles that lanes take in vectors.
  EXPECT_EQ(geometry(1 << 17, 1024, {Statistic::kSum}).first_columns.tile_columns_log2, 6u);
  // What units do not hold is left, not kept in words; L1 has that room for loads under way.
  EXPECT_EQ(geometry(1 << 17, 1024, {Statistic::kSum}).first_columns.word_bytes, 0u);
}

TEST(ReduceColumnGeometryTest, SeveralStatisticsOfShortFloatingPointColumnsHaveAKernelOfTheirOwn) {
  const auto geometry = [](ElementType type, uint64_t rows, uint64_t columns,
                           std::vector<Statistic> statistics) {
    return PlanReductionGeometry(
        Plan(ArrayDescription::Matrix(type, rows, columns), {GroupingKind::kAxis0, {}}, statistics),
        Properties(132));
  };
  const auto has_own = [&](ElementType type, uint64_t rows, uint64_t columns) {
    return geometry(type, rows, columns, {Statistic::kSum, Statistic::kMin})
               .first_columns.grid_blocks > 0;
  };
  EXPECT_TRUE(has_own(ElementType::kFloat32, 64, 1 << 14));
  EXPECT_FALSE(has_own(ElementType::kFloat32, 63, 1 << 15));
  EXPECT_FALSE(has_own(ElementType::kFloat32, 64, (1 << 14) - 1));
  EXPECT_TRUE(has_own(ElementType::kFloat16, 1 << 29, 2));
  EXPECT_FALSE(has_own(ElementType::kFloat16, (1 << 29) + 1, 2));
  EXPECT_TRUE(has_own(ElementType::kFloat64, 64, 1 << 13));
  EXPECT_FALSE(has_own(ElementType::kFloat64, 63, 1 << 14));
  EXPECT_FALSE(has_own(ElementType::kFloat64, 64, (1 << 13) - 1));
  EXPECT_TRUE(has_own(ElementType::kFloat64, uint64_t{1} << 32, 2));
  EXPECT_FALSE(has_own(ElementType::kFloat64, (uint64_t{1} << 32) + 1, 2));
  const auto first = [&](ElementType type, uint64_t rows, uint64_t columns) {
    return geometry(type, rows, columns, {Statistic::kVariance}).first_columns;
  };
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    EXPECT_EQ(first(type, 512, 1 << 20).form, ReductionForm::kWholeColumns);
    EXPECT_EQ(first(type, 1 << 14, 1 << 20).form, ReductionForm::kColumnItems);
  }
  // No more rows than the threads of a block take.
  EXPECT_EQ(first(ElementType::kFloat16, 1 << 20, 1 << 15).rows_per_split, 2047u * 16 * 512 / 32);
  EXPECT_EQ(first(ElementType::kFloat32, 1 << 20, 1 << 15).rows_per_split, 2047u * 8 * 512 / 32);
  EXPECT_EQ(first(ElementType::kFloat64, 1 << 20, 1 << 15).rows_per_split, 1023u * 16 * 512 / 64);
}

TEST(ReduceColumnGeometryTest, ColumnSumsKeepAllMultiprocessorsBusy) {
  for (const uint64_t columns : {4, 64, 129, 1000, 1024, 9000, 16'384, 20'000, 70'000}) {
    const ReductionGeometry geometry =
        SumsOfMatrix((1 << 29) / columns, columns, GroupingKind::kAxis0);
    const uint64_t items = geometry.column_tile_count * geometry.splits;
    EXPECT_GE(static_cast<double>(items) / static_cast<double>(RoundUp(items, uint64_t{132})), 0.85)
        << columns << " columns in " << items << " items";
    EXPECT_EQ(geometry.grid_blocks, items);
  }
}

TEST(ReduceColumnGeometryTest, ColumnsOfIntegersAreTakenInWords) {
  const auto geometry = [](ElementType type, uint64_t columns,
                           const std::vector<Statistic>& statistics) {
    return PlanReductionGeometry(Plan(ArrayDescription::Matrix(type, (1 << 30) / columns, columns),
                                      {GroupingKind::kAxis0, {}}, statistics),
                                 Properties(132));
  };
  const std::vector<Statistic> several = {Statistic::kMin, Statistic::kVariance};
  using enum ElementType;
  for (const auto& statistics : {std::vector{Statistic::kSum}, several}) {
    EXPECT_EQ(geometry(kInt8, 1, statistics).form, ReductionForm::kBlocks);
    for (const ElementType type : {kInt8, kUint16, kInt32, kUint64}) {
      EXPECT_EQ(geometry(type, 2, statistics).form, ReductionForm::kColumnItems);
      EXPECT_EQ(geometry(type, 1000, statistics).form, ReductionForm::kColumnItems);
      EXPECT_EQ(geometry(type, 1 << 20, statistics).form, ReductionForm::kWholeColumns);
    }
    // At least a word.
    EXPECT_EQ(geometry(kInt8, 2, statistics).tile_columns_log2, 2u);
    EXPECT_EQ(geometry(kInt64, 2, statistics).tile_columns_log2, 1u);
  }
  // Warps side by side.
  EXPECT_EQ(geometry(kInt8, 1 << 15, several).tile_columns_log2, 8u);
}

TEST(ReduceColumnGeometryTest, FewRowsOfManyColumnsAreNotSharedOut) {
  const ReductionPlan plan = Plan(ArrayDescription::Matrix(ElementType::kInt32, 4, 1'000'000),
                                  {GroupingKind::kAxis0, {}}, {Statistic::kL1Norm});
  const ReductionGeometry geometry = PlanReductionGeometry(plan, Properties(132));
  EXPECT_EQ(1u << geometry.tile_columns_log2, geometry.block_threads);
  EXPECT_EQ(geometry.splits, 1u);
  EXPECT_EQ(geometry.partial_count, 0u);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
