// Routes of reductions, judged without a device: what is chosen, what can be named, and that both
// are the same value.
#include "kernels/cuda/reduce/route.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/strategy_error.h"
#include "kernels/cuda/reduce/plan/geometry_test.h"

namespace gridfold::kernels::cuda {
namespace {

ReductionRoute RouteOf(const ReductionPlan& plan, bool is_aligned = true) {
  const DeviceProperties properties = Properties(132);
  const absl::StatusOr<ReductionRoute> route = PlanReductionRoute({plan, properties, is_aligned});
  EXPECT_TRUE(route.ok()) << route.status();
  return *route;
}

std::string StrategyOf(const ReductionPlan& plan, bool is_aligned = true) {
  return RouteOf(plan, is_aligned).strategy();
}

std::vector<std::string> TakersOf(const ReductionPlan& plan) {
  const DeviceProperties properties = Properties(132);
  return ReductionStrategies({plan, properties, true});
}

ReductionPlan Named(ReductionPlan plan, const std::string& strategy) {
  plan.strategy = strategy;
  return plan;
}

ReductionPlan RowsOf(ElementType type, uint64_t rows, uint64_t columns,
                     std::vector<Statistic> statistics = {Statistic::kSum}) {
  return Plan(ArrayDescription::Matrix(type, rows, columns), {GroupingKind::kAxis1, {}},
              std::move(statistics));
}

ReductionPlan ColumnsOf(ElementType type, uint64_t rows, uint64_t columns,
                        std::vector<Statistic> statistics = {Statistic::kSum}) {
  return Plan(ArrayDescription::Matrix(type, rows, columns), {GroupingKind::kAxis0, {}},
              std::move(statistics));
}

const std::vector<Statistic> kSeveral = {Statistic::kSum, Statistic::kMin, Statistic::kMax,
                                         Statistic::kVariance};

TEST(ReductionRouteTest, StrategiesFollowTheShape) {
  using enum ElementType;
  const auto vector = [](uint64_t n, std::vector<Statistic> statistics = {Statistic::kSum}) {
    return Plan(ArrayDescription::Vector(kFloat32, n), {}, std::move(statistics));
  };
  EXPECT_EQ(StrategyOf(vector(0)), "reduce/long/block-sums");
  EXPECT_EQ(StrategyOf(vector(1000)), "reduce/long/block-sums");
  EXPECT_EQ(StrategyOf(vector(1000, {Statistic::kMax})), "reduce/groups/warp-extremes");
  EXPECT_EQ(StrategyOf(vector(1 << 20)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(vector(9, {Statistic::kProduct})), "reduce/product");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 16, 1 << 20)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 1000, 1000)), "reduce/columns/sums");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 4, 1 << 27)), "reduce/columns/shallow-sums");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 512, 1 << 20)), "reduce/columns/whole-sums");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 10'000, 1000, kSeveral)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat64, 100'000, 1000)), "reduce/columns/doubles");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 100'000, 1000, kSeveral)), "reduce/columns/moments");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat64, 39, 39, {Statistic::kL2Norm})),
            "reduce/transposed/pair-tiles");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 5, 0)), "reduce/nothing");
}

// Choices that depend on how much there is, measured on questions of 64 MiB (route_report.py
// --mib 64).
TEST(ReductionRouteTest, StrategiesFollowTheSize) {
  using enum ElementType;
  // Several statistics of columns of few rows: as rows, but where there are columns for all
  // threads.
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat16, 32, 1 << 20, kSeveral)), "reduce/columns/whole-moments");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 8, 1 << 20, kSeveral)), "reduce/columns/whole-moments");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 7, 1 << 20, kSeveral)), "reduce/transposed/row-moments");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 32, 500'000, kSeveral)),
            "reduce/transposed/row-moments");
  // Narrow columns of small integers: as rows or as states, up to some size.
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1 << 18, 64, kSeveral)), "reduce/transposed/blocks");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1 << 20, 64, kSeveral)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 13 << 20, 4, kSeveral)), "reduce/columns/states");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1 << 24, 4, kSeveral)), "reduce/columns/vectors");
  // Rows of two vectors.
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 1 << 21, 4)), "reduce/groups/row-sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 1 << 18, 4)), "reduce/groups/sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 1 << 20, 8)), "reduce/groups/sums");
}

// The same of 1 MiB.
TEST(ReductionRouteTest, SmallArraysAreTakenByWhatIsMeasuredToBeFastest) {
  using enum ElementType;
  const std::vector<Statistic> extremes = {Statistic::kMin, Statistic::kArgmax};
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1 << 18, 4)), "reduce/transposed/blocks");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1 << 20, 4)), "reduce/transposed/blocks");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, (1 << 20) + 1, 4)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1 << 16, 64)), "reduce/transposed/blocks");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1 << 16, 65)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1048, 1000, extremes)), "reduce/transposed/row-extremes");
  EXPECT_EQ(StrategyOf(ColumnsOf(kBfloat16, 8192, 64, extremes)), "reduce/transposed/blocks");
  EXPECT_EQ(StrategyOf(ColumnsOf(kBfloat16, 8192, 64)), "reduce/columns/sums");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 4096, 64, extremes)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 65'536, 4, kSeveral)), "reduce/columns/states");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 32'768, 4, kSeveral)), "reduce/transposed/blocks");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 52'428, 5, kSeveral)), "reduce/transposed/blocks");
  // Kernels of rows that keep nothing but extremes do not answer all that those of columns do.
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt8, 1048, 1000, {Statistic::kRange})),
            "reduce/transposed/integer-strips");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 16, 16'384)), "reduce/columns/whole-sums");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat16, 32, 1 << 20)), "reduce/columns/whole-sums");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 15, 1 << 20)), "reduce/columns/shallow-sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 131, 1000)), "reduce/groups/sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 131, 2048)), "reduce/groups/sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 131, 2049)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 1, 2048)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 2048, 64, kSeveral)), "reduce/groups/pair-tiles");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 8192, 64, kSeveral)), "reduce/groups/pair-tiles");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 8193, 64, kSeveral)), "reduce/groups/row-moments");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 255, 1000)), "reduce/long/block-sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 256, 1000)), "reduce/groups/sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 256, 1025)), "reduce/long/block-sums");
}

// Several statistics of long rows: by a warp each, where there are enough of them, and no states.
TEST(ReductionRouteTest, LongRowsOfFloats) {
  using enum ElementType;
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 131, 2048, kSeveral)), "reduce/groups/pair-tiles");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 131, 2049, kSeveral)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 1, 2048, kSeveral)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat16, 2, 8192, kSeveral)), "reduce/groups/fixed-point");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 528, 16'384, {Statistic::kL2Norm})),
            "reduce/groups/row-moments");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 527, 16'384, {Statistic::kL2Norm})), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kInt32, 528, 4096, {Statistic::kL1Norm})), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 16'384, 16'384, kSeveral)), "reduce/groups/row-moments");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 8192, 32'768, kSeveral)), "reduce/groups/row-moments");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 8192, 32'769, kSeveral)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 100, 16'384, kSeveral)), "reduce/long/blocks");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 16'384, 16'385, kSeveral)), "reduce/long/blocks");
  ReductionPlan states = RowsOf(kFloat64, 16'384, 16'384, kSeveral);
  states.return_states = true;
  EXPECT_EQ(StrategyOf(states), "reduce/long/blocks");
}

// Norms and the like are known from the same sums as variances.
TEST(ReductionRouteTest, RowMomentsOfFloatsAnswerNorms) {
  using enum ElementType;
  for (const Statistic statistic :
       {Statistic::kL2Norm, Statistic::kRootMeanSquare, Statistic::kStandardError}) {
    EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 20, 64, {statistic})), "reduce/groups/row-moments");
    EXPECT_NE(StrategyOf(RowsOf(kInt32, 1 << 20, 64, {statistic})), "reduce/groups/row-moments");
  }
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 20, 64, {Statistic::kMean, Statistic::kRange})),
            "reduce/groups/row-moments");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 20, 64, {Statistic::kL1Norm})), "reduce/groups/tiles");
}

// Segments of so many float32 each.
ReductionPlan SegmentsOf(uint64_t count, uint64_t size, std::vector<Statistic> statistics) {
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  for (uint64_t i = 0; i < count; ++i) grouping.offsets.push_back((i + 1) * size);
  return Plan(ArrayDescription::Vector(ElementType::kFloat32, count * size), std::move(grouping),
              std::move(statistics));
}

TEST(ReductionRouteTest, FewLongSegmentsHaveATileEach) {
  EXPECT_EQ(StrategyOf(SegmentsOf(2000, 8000, kSeveral)), "reduce/groups/tiles");
  EXPECT_EQ(StrategyOf(SegmentsOf(3072, 4096, kSeveral)), "reduce/groups/tiles");
  EXPECT_EQ(StrategyOf(SegmentsOf(3073, 4096, kSeveral)), "reduce/groups/fixed-point");
  EXPECT_EQ(StrategyOf(SegmentsOf(3072, 4095, kSeveral)), "reduce/groups/fixed-point");
  EXPECT_EQ(StrategyOf(SegmentsOf(256, 16'384, kSeveral)), "reduce/groups/tiles");
  EXPECT_NE(StrategyOf(SegmentsOf(256, 16'385, kSeveral)), "reduce/groups/tiles");
  EXPECT_EQ(StrategyOf(SegmentsOf(255, 16'384, kSeveral)), "reduce/groups/fixed-point");
  EXPECT_EQ(StrategyOf(SegmentsOf(2000, 8000, {Statistic::kSum})), "reduce/groups/sums");
  ReductionPlan states = SegmentsOf(2000, 8000, kSeveral);
  states.return_states = true;
  EXPECT_EQ(StrategyOf(states), "reduce/groups/fixed-point");
}

// Large matrices of few rows, and stacks, have no transpose.
TEST(ReductionRouteTest, ColumnsThatAreNotTransposed) {
  using enum ElementType;
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat32, 32, 1 << 20, kSeveral)), "reduce/columns/whole-moments");
  EXPECT_EQ(StrategyOf(ColumnsOf(kFloat64, 2, 1 << 24, kSeveral)), "reduce/columns/whole-moments");
  const auto stack = [](ElementType type, uint64_t matrices, uint64_t rows, uint64_t columns,
                        std::vector<Statistic> statistics) {
    return Plan(ArrayDescription::Stack(type, matrices, rows, columns), {GroupingKind::kAxis0, {}},
                std::move(statistics));
  };
  EXPECT_EQ(StrategyOf(stack(kFloat32, 64, 64, 1 << 16, {Statistic::kSum})),
            "reduce/columns/shallow-sums");
  EXPECT_EQ(StrategyOf(stack(kFloat32, 5, 40, 16, kSeveral)), "reduce/columns/moments");
  const auto is_taken = [&](const ReductionPlan& plan, bool is_aligned) {
    const DeviceProperties properties = Properties(132);
    return ReducesSoonerInPlace({plan, properties, is_aligned});
  };
  EXPECT_TRUE(is_taken(stack(kInt16, 5, 40, 8, kSeveral), true));
  EXPECT_FALSE(is_taken(stack(kInt16, 5, 40, 9, kSeveral), true));
  EXPECT_FALSE(is_taken(stack(kInt16, 5, 40, 8, kSeveral), false));
  EXPECT_FALSE(is_taken(stack(kFloat64, 5, 40, 8, {Statistic::kProduct}), true));
  EXPECT_TRUE(is_taken(ColumnsOf(kFloat64, 40, 9, {Statistic::kProduct}), false));
  const auto states_of_rows = [](ElementType type, uint64_t size,
                                 std::vector<Statistic> statistics) {
    ReductionPlan rows = RowsOf(type, 10'000, size, std::move(statistics));
    rows.return_states = true;
    return rows;
  };
  EXPECT_TRUE(is_taken(states_of_rows(kFloat32, 256, {Statistic::kSum}), true));
  EXPECT_TRUE(is_taken(states_of_rows(kInt32, 256, kSeveral), true));
  EXPECT_FALSE(is_taken(states_of_rows(kFloat32, 2047, kSeveral), true));
  EXPECT_TRUE(is_taken(states_of_rows(kFloat32, 2048, kSeveral), true));
  EXPECT_FALSE(is_taken(states_of_rows(kFloat64, 2048, kSeveral), true));
}

// Rows of views lie apart from each other, which not all kernels know; nothing of views is
// transposed.
TEST(ReductionRouteTest, ViewsAreTakenByKernelsThatKnowOfPitches) {
  using enum ElementType;
  const auto of_view = [](ReductionPlan plan, uint64_t pitch) {
    plan.array.pitches = Pitches{pitch, plan.array.rows * pitch};
    return plan;
  };
  const auto strategy_of_rows = [&](ElementType type, uint64_t size,
                                    std::vector<Statistic> statistics) {
    return StrategyOf(of_view(RowsOf(type, 10'000, size, std::move(statistics)), 2 * size));
  };
  const std::vector<Statistic> extremes = {Statistic::kMin, Statistic::kMax};
  EXPECT_EQ(strategy_of_rows(kFloat32, 4, {Statistic::kSum}), "reduce/groups/sums");
  EXPECT_EQ(strategy_of_rows(kFloat64, 256, {Statistic::kSum}), "reduce/groups/sums");
  EXPECT_EQ(strategy_of_rows(kFloat32, 1024, kSeveral), "reduce/groups/fixed-point");
  EXPECT_EQ(strategy_of_rows(kFloat64, 1024, kSeveral), "reduce/groups/pair-tiles");
  EXPECT_EQ(strategy_of_rows(kInt32, 4096, kSeveral), "reduce/long/blocks");
  EXPECT_EQ(strategy_of_rows(kFloat32, 2048, extremes), "reduce/long/blocks");
  EXPECT_EQ(strategy_of_rows(kFloat64, 2048, extremes), "reduce/long/blocks");
  const auto is_taken = [](const ReductionPlan& plan, bool is_aligned = true) {
    const DeviceProperties properties = Properties(132);
    return ReducesSoonerInPlace({plan, properties, is_aligned});
  };
  EXPECT_TRUE(is_taken(of_view(RowsOf(kFloat32, 10'000, 4, {Statistic::kSum}), 7), false));
  EXPECT_TRUE(is_taken(of_view(RowsOf(kInt32, 10'000, 4096, kSeveral), 5000)));
  EXPECT_FALSE(is_taken(of_view(RowsOf(kInt32, 10'000, 4095, kSeveral), 5000)));
  EXPECT_TRUE(is_taken(RowsOf(kInt32, 10'000, 4095, kSeveral)));
  const ReductionPlan columns = of_view(ColumnsOf(kFloat64, 100, 50, kSeveral), 77);
  EXPECT_EQ(StrategyOf(columns), "reduce/columns/moments");
  EXPECT_TRUE(is_taken(columns, false));
  ReductionPlan stack = Plan(ArrayDescription::Stack(kInt16, 5, 40, 8), {GroupingKind::kAxis0, {}},
                             {Statistic::kSum});
  stack.array.pitches = Pitches{8, 16};  // Interleaved.
  EXPECT_TRUE(is_taken(stack));
  EXPECT_FALSE(is_taken(stack, false));
  stack.array.pitches = Pitches{12, 480};
  EXPECT_FALSE(is_taken(stack));
  stack.array.pitches = Pitches{16, 644};
  EXPECT_FALSE(is_taken(stack));
}

// Few rows by a thread for all; several statistics of narrow integers by what joins less.
TEST(ReductionRouteTest, SmallColumnsAreTakenByWhatIsMeasuredToBeFastest) {
  using enum ElementType;
  const std::vector<Statistic> extreme = {Statistic::kArgmax};
  EXPECT_EQ(StrategyOf(ColumnsOf(kBfloat16, 320, 500, extreme)), "reduce/columns/whole-vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kBfloat16, 321, 2000, extreme)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 1280, 4096)), "reduce/columns/whole-vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 1280, 4095)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt32, 1281, 4096)), "reduce/columns/vectors");
  const auto of_rows = [](const ReductionPlan& plan) { return RouteOf(plan).is_transposed; };
  EXPECT_EQ(StrategyOf(ColumnsOf(kUint8, 1 << 20, 8, kSeveral)), "reduce/columns/states");
  EXPECT_TRUE(of_rows(ColumnsOf(kUint8, 1 << 20, 9, kSeveral)));
  EXPECT_EQ(StrategyOf(ColumnsOf(kUint8, 1 << 20, 8, {Statistic::kNonzeroCount})),
            "reduce/columns/states");
  EXPECT_TRUE(of_rows(ColumnsOf(kInt16, 10'000, 13, {Statistic::kL2Norm})));
  EXPECT_EQ(StrategyOf(ColumnsOf(kUint8, 1 << 20, 8)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kUint8, 1 << 20, 8, extreme)), "reduce/columns/vectors");
  EXPECT_TRUE(of_rows(ColumnsOf(kInt16, 3000, 512, kSeveral)));
  EXPECT_TRUE(of_rows(ColumnsOf(kInt16, 2000, 1024, kSeveral)));
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt16, 2000, 1025, kSeveral)), "reduce/columns/vectors");
  EXPECT_TRUE(of_rows(ColumnsOf(kInt16, 16'000, 512, kSeveral)));
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt16, 16'000, 513, kSeveral)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kUint8, 1 << 24, 8, kSeveral)), "reduce/columns/vectors");
  EXPECT_TRUE(of_rows(ColumnsOf(kUint32, 512, 512, kSeveral)));
  EXPECT_EQ(StrategyOf(ColumnsOf(kUint32, 513, 512, kSeveral)), "reduce/columns/states");
  EXPECT_EQ(StrategyOf(ColumnsOf(kUint32, 2049, 512, kSeveral)), "reduce/columns/vectors");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt64, 4096, 512, kSeveral)), "reduce/columns/states");
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt64, 4097, 512, kSeveral)), "reduce/columns/vectors");
  // A few rows.
  EXPECT_TRUE(of_rows(ColumnsOf(kInt8, 4, 1 << 20, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kInt8, 5, 1 << 21, kSeveral)));
  EXPECT_TRUE(of_rows(ColumnsOf(kInt64, 8, 1 << 20, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kInt64, 9, 1 << 19, kSeveral)));
  EXPECT_TRUE(of_rows(ColumnsOf(kFloat64, 2, 1 << 20, extreme)));
  EXPECT_FALSE(of_rows(ColumnsOf(kFloat64, 3, 1 << 20, extreme)));
  EXPECT_FALSE(of_rows(ColumnsOf(kFloat32, 2, 1 << 20, extreme)));
  EXPECT_FALSE(of_rows(ColumnsOf(kInt64, 2, 1 << 20)));
  EXPECT_TRUE(of_rows(ColumnsOf(kInt8, 100, 10'000, kSeveral)));
  EXPECT_EQ(StrategyOf(ColumnsOf(kInt16, 100, 5'000, kSeveral)), "reduce/columns/whole-vectors");
  EXPECT_TRUE(of_rows(ColumnsOf(kFloat32, 1024, 4096, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kFloat32, 1025, 4096, kSeveral)));
  EXPECT_TRUE(of_rows(ColumnsOf(kFloat64, 1024, 4095, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kFloat64, 1024, 4096, kSeveral)));
  EXPECT_TRUE(of_rows(ColumnsOf(kFloat64, 10'000, 65, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kFloat64, 10'000, 64, kSeveral)));
  EXPECT_TRUE(of_rows(ColumnsOf(kFloat16, 1024, 4095, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kFloat16, 1024, 4096, kSeveral)));
  EXPECT_TRUE(of_rows(ColumnsOf(kFloat16, 1 << 19, 4, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kFloat16, (1 << 19) + 1, 4, kSeveral)));
  EXPECT_FALSE(of_rows(ColumnsOf(kBfloat16, 2, 1 << 20, kSeveral)));
  // States that are handed out have the form of the kernel that the parts say.
  ReductionPlan states = ColumnsOf(kUint8, 1 << 20, 8, kSeveral);
  states.return_states = true;
  EXPECT_EQ(StrategyOf(states), "reduce/columns/vectors");
}

TEST(ReductionRouteTest, TwelveKernelsOfShortGroupsHaveTheirNames) {
  using enum ElementType;
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 25, 16)), "reduce/groups/row-sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 25, 16), false), "reduce/groups/sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 20, 16)), "reduce/groups/sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 20, 4)), "reduce/groups/vector-sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat16, 1 << 20, 4)), "reduce/groups/vector-sums");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 20, 17)), "reduce/groups/sums");
  EXPECT_EQ(StrategyOf(RowsOf(kInt32, 1 << 20, 17)), "reduce/groups/integer-strips");
  EXPECT_EQ(StrategyOf(RowsOf(kInt32, 1 << 20, 17, kSeveral)), "reduce/groups/row-moments");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 1 << 20, 17, kSeveral)), "reduce/groups/row-moments");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 100, 17, kSeveral)), "reduce/groups/fixed-point");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat64, 100, 17, kSeveral)), "reduce/groups/pair-tiles");
  EXPECT_EQ(StrategyOf(RowsOf(kInt8, 100, 17, {Statistic::kMin})), "reduce/groups/row-extremes");
  EXPECT_EQ(StrategyOf(RowsOf(kInt8, 100, 8, {Statistic::kMin})), "reduce/groups/brief-extremes");
  EXPECT_EQ(StrategyOf(RowsOf(kInt32, 100, 400, {Statistic::kMin})), "reduce/groups/warp-extremes");
  EXPECT_EQ(StrategyOf(RowsOf(kFloat32, 100, 17, {Statistic::kL1Norm})), "reduce/groups/tiles");
}

TEST(ReductionRouteTest, RowsOfOneElement) {
  using enum ElementType;
  EXPECT_EQ(StrategyOf(RowsOf(kFloat16, 1000, 1, {Statistic::kL2Norm})), "reduce/groups/singles");
  EXPECT_EQ(StrategyOf(RowsOf(kInt64, 1000, 1, kSeveral)), "reduce/groups/singles");
  EXPECT_EQ(StrategyOf(Plan(ArrayDescription::Vector(kFloat32, 1), {})), "reduce/groups/singles");
  EXPECT_NE(StrategyOf(RowsOf(kInt64, 1000, 1, {Statistic::kBitwiseAnd})), "reduce/groups/singles");
  EXPECT_NE(StrategyOf(RowsOf(kInt64, 1000, 2)), "reduce/groups/singles");
  EXPECT_NE(StrategyOf(SegmentsOf(1000, 1, kSeveral)), "reduce/groups/singles");
  ReductionPlan plan = RowsOf(kFloat64, 1000, 1, {Statistic::kSum, Statistic::kProduct});
  EXPECT_EQ(StrategyOf(plan), "reduce/groups/singles");
  plan.return_states = true;
  EXPECT_NE(StrategyOf(plan), "reduce/groups/singles");
  ReductionPlan variance = RowsOf(kFloat32, 1000, 1, {Statistic::kVariance});
  EXPECT_EQ(StrategyOf(variance), "reduce/groups/singles");
  variance.delta_degrees_of_freedom = 1;
  EXPECT_NE(StrategyOf(variance), "reduce/groups/singles");
}

TEST(ReductionRouteTest, LongSegmentsAreLeftToBlocks) {
  const auto leftovers = [](std::vector<uint64_t> sizes) {
    return RouteOf(SegmentPlan(ElementType::kInt8, sizes)).leftovers;
  };
  EXPECT_EQ(leftovers({1, 0, 7}), ReductionLeftovers::kNone);
  EXPECT_EQ(leftovers({1, 1 << 30, 7}), ReductionLeftovers::kLongSegments);
  EXPECT_EQ(RouteOf(RowsOf(ElementType::kFloat32, 1 << 20, 17, kSeveral)).leftovers,
            ReductionLeftovers::kRows);
  EXPECT_EQ(RouteOf(ColumnsOf(ElementType::kFloat32, 100'000, 1000, kSeveral)).leftovers,
            ReductionLeftovers::kTiles);
}

// Blocks take more time to meet than a warp takes to read them.
TEST(ReductionRouteTest, ThousandsOfArraysAreReducedByWarps) {
  std::vector<uint64_t> sizes(4096, 256);
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] += i * 16'128 / 4096;
  const ReductionRoute route = RouteOf(SegmentPlan(ElementType::kFloat32, sizes, kSeveral));
  EXPECT_EQ(route.strategy(), "reduce/groups/fixed-point");
  EXPECT_EQ(route.leftovers, ReductionLeftovers::kNone);
}

TEST(ReductionRouteTest, NamesAreRefusedWithThoseThatCan) {
  const ReductionPlan plan = RowsOf(ElementType::kFloat32, 1000, 16);
  const DeviceProperties properties = Properties(132);
  for (const char* name : {"reduce/columns/sums", "reduce/tile", "sums", "reduce/product"}) {
    const ReductionPlan named = Named(plan, name);
    const absl::Status status = PlanReductionRoute({named, properties, true}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldOf(status), kStrategyField);
    for (const std::string& taker : TakersOf(plan)) {
      EXPECT_NE(status.message().find(taker), std::string::npos) << status;
    }
  }
  EXPECT_EQ(TakersOf(plan),
            (std::vector<std::string>{"reduce/groups/row-sums", "reduce/long/blocks",
                                      "reduce/long/block-sums", "reduce/groups/tiles",
                                      "reduce/groups/sums", "reduce/groups/fixed-point"}));
}

bool operator==(const FirstColumnGeometry& a, const FirstColumnGeometry& b) {
  return a.form == b.form && a.grid_blocks == b.grid_blocks && a.splits == b.splits &&
         a.tile_columns_log2 == b.tile_columns_log2 && a.rows_per_split == b.rows_per_split;
}

// What is thought best is what its name gives, down to the grid.
TEST(ReductionRouteTest, ARouteIsThatOfItsName) {
  RandomPlans plans;
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) {
    const ReductionPlan plan = plans.Next();
    if (plan.grouping.group_count == 0 || plan.array.element_count == 0) continue;
    const ReductionRoute best = RouteOf(plan);
    seen.insert(best.strategy());
    const std::vector<std::string> takers = TakersOf(plan);
    ASSERT_EQ(takers.front(), best.strategy());
    ASSERT_EQ(std::set<std::string>(takers.begin(), takers.end()).size(), takers.size());
    for (const std::string& taker : takers) {
      const ReductionRoute route = RouteOf(Named(plan, taker));
      ASSERT_EQ(route.strategy(), taker);
      if (taker != best.strategy()) continue;
      ASSERT_EQ(route.parts, best.parts);
      ASSERT_EQ(route.geometry.form, best.geometry.form) << taker;
      ASSERT_EQ(route.geometry.grid_blocks, best.geometry.grid_blocks) << taker;
      ASSERT_EQ(route.geometry.block_threads, best.geometry.block_threads) << taker;
      ASSERT_EQ(route.scratch_bytes, best.scratch_bytes) << taker;
      ASSERT_TRUE(route.geometry.first_columns == best.geometry.first_columns) << taker;
    }
  }
  EXPECT_GE(seen.size(), 10u);
}

TEST(ReductionRouteTest, ScratchOfEveryPlanIsWithinTheBound) {
  RandomPlans random;
  std::vector<ReductionPlan> plans;
  for (int i = 0; i < 3000; ++i) plans.push_back(random.Next());
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    for (const uint64_t rows : {1, 2, 3, 8, 17, 40, 63}) {
      plans.push_back(ColumnsOf(type, rows, (uint64_t{1} << 30) / rows, kSeveral));
      plans.push_back(ColumnsOf(type, rows, (uint64_t{1} << 30) / rows));
    }
  }
  for (const ReductionPlan& plan : plans) {
    for (const int multiprocessors : {1, 24, 132}) {
      const DeviceProperties properties = Properties(multiprocessors);
      const absl::StatusOr<ReductionRoute> route = PlanReductionRoute({plan, properties, true});
      ASSERT_TRUE(route.ok());
      ASSERT_LE(
          route->scratch_bytes,
          ReductionScratchBytesMax(plan.array.size_bytes(), plan.grouping.group_count, properties))
          << route->strategy() << " of " << plan.array.element_count << " "
          << ElementTypeName(plan.array.element_type) << ", " << plan.grouping.group_count
          << " groups";
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
