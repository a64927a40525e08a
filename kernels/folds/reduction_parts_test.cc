// Reductions in parts: wherever the parts end, the answer is that of one run.
#include "kernels/folds/reduction_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kStateBytesMax = uint64_t{1} << 20;

class ReductionPartsTest : public FoldTest {
 protected:
  static ReductionPlan Plan(const ArrayDescription& array, GroupingKind kind,
                            std::vector<Statistic> statistics = {Statistic::kSum}) {
    ReductionSpec spec;
    spec.statistics = std::move(statistics);
    spec.grouping.kind = kind;
    return PlanReduction(array, spec).value();
  }

  absl::StatusOr<ReductionResult> Run(const ReductionPlan& plan, absl::string_view bytes) {
    RunStatistics statistics;
    return lane_->RunReduction(plan, SpanOf(bytes), {}, statistics);
  }

  absl::StatusOr<ReductionResult> RunInParts(const ReductionPlan& plan, const std::string& bytes,
                                             uint64_t elements_max) {
    EXPECT_TRUE(CanReduceInParts(plan, kStateBytesMax));
    const auto fold = MakePartsFold(plan, kRoomyLane).value();
    const uint64_t element_bytes = ElementSize(plan.array.element_type);
    uint64_t begin = 0;
    while (begin < plan.array.element_count) {
      const uint64_t count = PartElements(plan, begin, elements_max);
      EXPECT_GT(count, 0u);
      EXPECT_LE(count, elements_max);
      const absl::string_view part =
          absl::string_view(bytes).substr(begin * element_bytes, count * element_bytes);
      for (uint64_t used = 0; used < part.size();) {
        const auto batch = fold->NextBatch(part.size() - used);
        if (!batch.ok()) return batch.status();
        if (!batch->has_value()) return absl::InternalError("the part was cut inside a group");
        const auto taken =
            fold->Add(**batch, Run(**batch, part.substr(used, (*batch)->array.size_bytes())));
        if (!taken.ok()) return taken.status();
        used += *taken;
      }
      begin += count;
    }
    absl::StatusOr<ReductionMerge> answer = fold->Finish(0);
    if (!answer.ok()) return answer.status();
    return std::move(answer->result);
  }

  void ExpectAnswerOfOneRun(const ReductionPlan& plan, const std::string& bytes,
                            uint64_t elements_max) {
    const auto expected = Run(plan, bytes);
    const auto actual = RunInParts(plan, bytes, elements_max);
    ASSERT_EQ(actual.status(), expected.status());
    if (!expected.ok()) return;
    for (size_t i = 0; i < expected->columns.size(); ++i) {
      EXPECT_EQ(actual->columns[i].slots, expected->columns[i].slots)
          << StatisticName(plan.statistics[i]) << " of " << ElementTypeName(plan.array.element_type)
          << ", parts of " << elements_max;
    }
  }
};

const std::vector<Statistic> kStatistics = {Statistic::kSum, Statistic::kArgmin, Statistic::kArgmax,
                                            Statistic::kVariance, Statistic::kNanCount};

TEST_F(ReductionPartsTest, PartsOfAnySize) {
  constexpr uint64_t kColumns = 7;
  constexpr uint64_t kRows = 60;
  for (const ElementType type :
       {ElementType::kInt16, ElementType::kFloat32, ElementType::kFloat64}) {
    const std::string bytes = RandomElements(type, kRows * kColumns);
    const ArrayDescription array = ArrayDescription::Matrix(type, kRows, kColumns);
    for (const uint64_t elements_max : {kColumns, kColumns + 1, 2 * kColumns - 1, uint64_t{100},
                                        kRows * kColumns - 1, kRows * kColumns}) {
      for (const GroupingKind kind :
           {GroupingKind::kWhole, GroupingKind::kAxis0, GroupingKind::kAxis1}) {
        ExpectAnswerOfOneRun(Plan(array, kind, kStatistics), bytes, elements_max);
      }
    }
  }
}

// Rows of more than kWholeGroupBytesMax are cut, shorter ones are not.
TEST_F(ReductionPartsTest, RowsAroundTheLargestThatIsNotCut) {
  constexpr uint64_t kColumnsMax = kWholeGroupBytesMax / sizeof(float);
  constexpr uint64_t kRows = 5;
  for (const uint64_t columns : {kColumnsMax, kColumnsMax + 1}) {
    const std::string bytes = RandomElements(ElementType::kFloat32, kRows * columns);
    const ReductionPlan plan = Plan(ArrayDescription::Matrix(ElementType::kFloat32, kRows, columns),
                                    GroupingKind::kAxis1, {Statistic::kSum, Statistic::kArgmax});
    for (const uint64_t elements_max : {columns, columns + 1, 2 * columns - 1, 2 * columns + 100}) {
      ExpectAnswerOfOneRun(plan, bytes, elements_max);
    }
    const uint64_t first = PartElements(plan, 0, 2 * columns - 1);
    EXPECT_EQ(first, columns == kColumnsMax ? columns : 2 * columns - 1);
  }
}

TEST_F(ReductionPartsTest, TheFirstOfEqualExtremesWins) {
  std::vector<float> values(100, 1);
  values[30] = values[31] = values[70] = 9;
  values[10] = values[50] = -9;
  const ReductionPlan plan = Plan(ArrayDescription::Vector(ElementType::kFloat32, values.size()),
                                  GroupingKind::kWhole, {Statistic::kArgmax, Statistic::kArgmin});
  for (const uint64_t elements_max : {1, 10, 30, 31, 32}) {
    const auto result = RunInParts(plan, BytesOf(values), elements_max);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->columns[0].slots[0], 30u);
    EXPECT_EQ(result->columns[1].slots[0], 10u);
  }
}

TEST_F(ReductionPartsTest, OnlyTheWholeMayOverflow) {
  const int64_t max = std::numeric_limits<int64_t>::max();
  const ArrayDescription array = ArrayDescription::Matrix(ElementType::kInt64, 3, 2);
  for (const GroupingKind kind :
       {GroupingKind::kWhole, GroupingKind::kAxis0, GroupingKind::kAxis1}) {
    for (const std::vector<int64_t>& values :
         {std::vector<int64_t>{max, -1, 3, 1, -max, 2}, {1, 2, max, max, 5, 6}}) {
      ExpectAnswerOfOneRun(Plan(array, kind), BytesOf(values), 2);
    }
  }
}

TEST_F(ReductionPartsTest, StatesAreThoseOfOneRun) {
  constexpr uint64_t kColumns = 5;
  const std::string bytes = RandomElements(ElementType::kFloat64, 40 * kColumns);
  for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0}) {
    const ReductionPlan asked =
        Plan(ArrayDescription::Matrix(ElementType::kFloat64, 40, kColumns), kind, kStatistics);
    const ReductionPlan plan = PlanStates(asked);
    const auto expected = Run(plan, bytes);
    const auto actual = RunInParts(plan, bytes, 3 * kColumns + 1);
    ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
    const auto accumulator = MakeReductionAccumulator(asked, actual->states);
    ASSERT_TRUE(accumulator.ok()) << accumulator.status();
    EXPECT_EQ(*accumulator, MakeReductionAccumulator(asked, expected->states).value());
  }
}

TEST_F(ReductionPartsTest, WhatCannotBeRunInParts) {
  const auto can = [](ReductionPlan plan) { return CanReduceInParts(plan, kStateBytesMax); };
  const ArrayDescription floats = ArrayDescription::Vector(ElementType::kFloat32, 100);
  EXPECT_TRUE(can(Plan(floats, GroupingKind::kWhole)));
  EXPECT_FALSE(can(Plan(floats, GroupingKind::kWhole, {Statistic::kSum, Statistic::kProduct})));
  EXPECT_TRUE(can(Plan(ArrayDescription::Vector(ElementType::kInt8, 100), GroupingKind::kWhole,
                       {Statistic::kProduct})));
  const ArrayDescription wide = ArrayDescription::Matrix(ElementType::kFloat32, 2, 1 << 16);
  EXPECT_FALSE(can(Plan(wide, GroupingKind::kAxis0)));
  ReductionPlan rows = Plan(wide, GroupingKind::kAxis1);
  EXPECT_TRUE(can(rows));
  rows.return_states = true;
  EXPECT_FALSE(can(rows));
  ReductionSpec segments;
  segments.statistics = {Statistic::kSum};
  segments.grouping = {GroupingKind::kSegments, {0, 50, 100}};
  EXPECT_FALSE(can(PlanReduction(floats, segments).value()));
}

}  // namespace
}  // namespace gridfold::kernels
