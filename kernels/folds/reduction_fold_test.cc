// Folds of reductions: however an array is cut, the answer and the accumulator are those of one
// run.
#include "kernels/folds/reduction_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/contract/invalid_field.h"
#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

using testing::HasSubstr;

// What is asked, of an array whose rows are not counted where it has columns.
struct Question {
  ElementType type = ElementType::kInt32;
  uint64_t columns = 0;  // 0: one dimension.
  ReductionSpec spec;
  uint64_t first_index = 0;
};

class ReductionFoldTest : public FoldTest {
 protected:
  static ArrayDescription Describe(const Question& question, uint64_t count) {
    return question.columns == 0 ? ArrayDescription::Vector(question.type, count)
                                 : ArrayDescription::Matrix(question.type, count / question.columns,
                                                            question.columns);
  }

  absl::StatusOr<ReductionMerge> OneRun(const Question& question, const std::string& bytes) {
    absl::StatusOr<ReductionPlan> plan =
        PlanReduction(Describe(question, bytes.size() / ElementSize(question.type)), question.spec);
    if (!plan.ok()) return plan.status();
    RunStatistics statistics;
    absl::StatusOr<ReductionResult> result = lane_->RunReduction(
        plan->return_states ? PlanStates(*plan) : *plan, SpanOf(bytes), {}, statistics);
    if (!result.ok()) return result.status();
    ShiftIndices(question.first_index, *result);
    if (plan->return_states) return MakeReductionPart(*plan, result->states, {});
    return ReductionMerge{*std::move(result), {}, plan->array.element_count};
  }

  absl::StatusOr<std::unique_ptr<ReductionFold>> MakeFold(const Question& question,
                                                          const LaneOptions& lane,
                                                          uint64_t group_count_max) {
    ReductionSpec spec = question.spec;
    spec.return_states = true;
    const bool is_segments = spec.grouping.kind == GroupingKind::kSegments;
    const uint64_t count = is_segments ? spec.grouping.offsets.back() : 0;
    absl::StatusOr<ReductionPlan> plan = PlanReduction(Describe(question, count), spec);
    if (!plan.ok()) return plan.status();
    plan->return_states = question.spec.return_states;
    return ReductionFold::Make({*std::move(plan), question.first_index, lane, group_count_max});
  }

  // The answer for bytes that arrive up to each of the increasing `ends`, the last of them all.
  absl::StatusOr<ReductionMerge> Fold(const Question& question, const std::string& bytes,
                                      const std::vector<size_t>& ends,
                                      const LaneOptions& lane = kRoomyLane,
                                      uint64_t group_count_max = 1 << 20) {
    auto fold = MakeFold(question, lane, group_count_max);
    if (!fold.ok()) return fold.status();
    size_t used = 0;
    for (const size_t end : ends) {
      while (true) {
        const auto batch = (*fold)->NextBatch(end - used);
        if (!batch.ok()) return batch.status();
        EXPECT_LE(batch->has_value(), end - used >= (*fold)->batch_bytes_min());
        if (!batch->has_value()) break;
        const uint64_t size_bytes = (*batch)->array.size_bytes();
        EXPECT_LE(size_bytes, std::min<uint64_t>(end - used, lane.input_bytes_max));
        RunStatistics statistics;
        const auto taken = (*fold)->Add(
            **batch, engine_->CreateLane(lane).value()->RunReduction(
                         **batch, SpanOf(bytes.substr(used, size_bytes)), {}, statistics));
        if (!taken.ok()) return taken.status();
        used += *taken;
      }
    }
    return (*fold)->Finish(bytes.size() - used);
  }

  void ExpectFoldsAsOneRun(const Question& question, const std::string& bytes,
                           const LaneOptions& lane = kRoomyLane) {
    const absl::StatusOr<ReductionMerge> expected = OneRun(question, bytes);
    for (int round = 0; round < 8; ++round) {
      const auto folded = Fold(question, bytes, RandomEnds(bytes.size()), lane);
      ASSERT_EQ(folded.status(), expected.status());
      if (!expected.ok()) continue;
      for (size_t i = 0; i < expected->result.columns.size(); ++i) {
        EXPECT_EQ(folded->result.columns[i].slots, expected->result.columns[i].slots)
            << StatisticName(expected->result.columns[i].statistic) << " of "
            << ElementTypeName(question.type);
      }
      EXPECT_EQ(folded->accumulator, expected->accumulator);
      EXPECT_EQ(folded->element_count, expected->element_count);
    }
  }

  static ReductionSpec SpecOfAll(ElementType type, const GroupingSpec& grouping, bool part) {
    ReductionSpec spec;
    for (int i = 0; i < kStatisticCount; ++i) {
      const auto statistic = static_cast<Statistic>(i);
      const bool of_integers =
          TraitsOf(statistic).needs_integers || statistic == Statistic::kProduct;
      if (!of_integers || !IsFloatingPoint(type)) spec.statistics.push_back(statistic);
    }
    spec.grouping = grouping;
    spec.overflow_policy = OverflowPolicy::kWrap;
    spec.return_states = part;
    return spec;
  }

  static Question SumOf(ElementType type, GroupingSpec grouping = {}) {
    Question question{.type = type, .columns = 0, .spec = {}, .first_index = 0};
    question.spec.statistics = {Statistic::kSum};
    question.spec.grouping = std::move(grouping);
    return question;
  }
};

TEST_F(ReductionFoldTest, AnswersDoNotDependOnTheCuts) {
  constexpr uint64_t kColumns = 7;
  constexpr uint64_t kCount = 60 * kColumns;
  const GroupingSpec segments{GroupingKind::kSegments, {0, 1, 90, 100, 101, 371, kCount}};
  // Lanes that hold a few elements cut every group; others none.
  for (const uint64_t lane_bytes : {uint64_t{64}, kRoomyLane.input_bytes_max}) {
    LaneOptions lane = kRoomyLane;
    lane.input_bytes_max = lane_bytes;
    for (int t = 0; t < kElementTypeCount; ++t) {
      const auto type = static_cast<ElementType>(t);
      const std::string bytes = RandomElements(type, kCount);
      for (const bool part : {false, true}) {
        for (const GroupingSpec& grouping : {GroupingSpec{}, GroupingSpec{GroupingKind::kAxis0, {}},
                                             GroupingSpec{GroupingKind::kAxis1, {}}, segments}) {
          const bool is_matrix =
              grouping.kind == GroupingKind::kAxis0 || grouping.kind == GroupingKind::kAxis1;
          ExpectFoldsAsOneRun({.type = type,
                               .columns = is_matrix ? kColumns : 0,
                               .spec = SpecOfAll(type, grouping, part),
                               .first_index = 1000},
                              bytes, lane);
        }
      }
    }
  }
}

TEST_F(ReductionFoldTest, GroupsTooLargeToWaitForAreCut) {
  constexpr uint64_t kColumns = kWholeGroupBytesMax / 4 + 1;
  const std::string bytes = RandomElements(ElementType::kFloat32, 3 * kColumns);
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum, Statistic::kArgmax};
  spec.grouping.kind = GroupingKind::kAxis1;
  ExpectFoldsAsOneRun({ElementType::kFloat32, kColumns, spec, 0}, bytes);
}

TEST_F(ReductionFoldTest, NothingAtAll) {
  for (const ElementType type : {ElementType::kInt8, ElementType::kFloat64}) {
    ExpectFoldsAsOneRun(SumOf(type), "");
    ExpectFoldsAsOneRun(SumOf(type, {GroupingKind::kSegments, {0}}), "");
    ExpectFoldsAsOneRun(SumOf(type, {GroupingKind::kSegments, {0, 0, 0}}), "");
    for (const GroupingKind kind : {GroupingKind::kAxis0, GroupingKind::kAxis1}) {
      Question question = SumOf(type, {kind, {}});
      question.columns = 3;
      ExpectFoldsAsOneRun(question, "");
    }
    // Rows that would be too small for a statistic, if there were one.
    Question rows = SumOf(type, {GroupingKind::kAxis1, {}});
    rows.columns = 1;
    rows.spec.statistics = {Statistic::kVariance};
    rows.spec.delta_degrees_of_freedom = 1;
    ExpectFoldsAsOneRun(rows, "");
    Question extreme = SumOf(type);
    extreme.spec.statistics = {Statistic::kMin};
    ExpectFoldsAsOneRun(extreme, "");  // The same error.
    extreme.spec.return_states = true;
    ExpectFoldsAsOneRun(extreme, "");  // A part without a value.
  }
}

TEST_F(ReductionFoldTest, OnlyTheWholeMayOverflow) {
  const int64_t max = std::numeric_limits<int64_t>::max();
  const std::string mended = BytesOf<int64_t>({max, max, -max, -max, 5});
  const std::string too_much = BytesOf<int64_t>({1, 2, max, -1, 2, 3});
  for (const bool part : {false, true}) {
    Question question = SumOf(ElementType::kInt64);
    question.spec.return_states = part;
    ExpectFoldsAsOneRun(question, mended);
    ExpectFoldsAsOneRun(question, too_much);
    question.spec.grouping = {GroupingKind::kSegments, {0, 2, 5, 6}};
    // The error names the group of the whole.
    const auto folded = Fold(question, too_much, {16, 24, too_much.size()});
    EXPECT_TRUE(absl::IsOutOfRange(folded.status()));
    EXPECT_THAT(std::string(folded.status().message()), HasSubstr("group 1"));
    ExpectFoldsAsOneRun(question, BytesOf<int64_t>({1, 2, max, -1, -2, 3}));
  }
}

TEST_F(ReductionFoldTest, AnErrorOfManyGroupsNamesTheFirst) {
  Question question = SumOf(ElementType::kFloat32, {GroupingKind::kAxis1, {}});
  question.columns = 2;
  question.spec.statistics = {Statistic::kArgmin};
  question.spec.nan_policy = NanPolicy::kIgnore;
  ExpectFoldsAsOneRun(question, BytesOf<float>({1, 2, 3, NAN, NAN, NAN, 4, 5, NAN, NAN}));
}

// One run refuses groups that are too small before it looks at their elements.
TEST_F(ReductionFoldTest, GroupsThatAreTooSmallComeBeforeOtherErrors) {
  Question question = SumOf(ElementType::kFloat32);
  question.spec.statistics = {Statistic::kArgmin, Statistic::kVariance};
  question.spec.nan_policy = NanPolicy::kIgnore;
  question.spec.delta_degrees_of_freedom = 1;
  EXPECT_EQ(FieldOf(Fold(question, BytesOf<float>({NAN}), {4}).status()),
            "delta_degrees_of_freedom");
  ExpectFoldsAsOneRun(question, BytesOf<float>({NAN}));
  question.columns = 2;
  question.spec.grouping.kind = GroupingKind::kAxis0;
  ExpectFoldsAsOneRun(question, BytesOf<float>({NAN, 1}));
  ExpectFoldsAsOneRun(question, BytesOf<float>({NAN, 1, NAN, 2}));
}

TEST_F(ReductionFoldTest, ArraysThatEndWhereTheyMayNot) {
  EXPECT_EQ(FieldOf(Fold(SumOf(ElementType::kInt32), "abcde", {5}).status()), "data");
  for (const GroupingKind kind :
       {GroupingKind::kWhole, GroupingKind::kAxis0, GroupingKind::kAxis1}) {
    Question question = SumOf(ElementType::kInt8, {kind, {}});
    question.columns = 3;
    EXPECT_TRUE(Fold(question, "abcdef", {6}).ok());
    EXPECT_EQ(FieldOf(Fold(question, "abcdefg", {7}).status()), "data");
  }
  const Question segments = SumOf(ElementType::kInt8, {GroupingKind::kSegments, {0, 2, 2, 4}});
  EXPECT_TRUE(Fold(segments, "abcd", {4}).ok());
  for (const std::string bytes : {"", "a", "abc", "abcde", "abcdefgh"}) {
    EXPECT_EQ(FieldOf(Fold(segments, bytes, {bytes.size()}).status()),
              "grouping.segments.offsets[3]");
  }
}

TEST_F(ReductionFoldTest, WhatCannotBeFolded) {
  Question product = SumOf(ElementType::kFloat32);
  product.spec.statistics = {Statistic::kSum, Statistic::kProduct};
  EXPECT_EQ(FieldOf(Fold(product, "", {}).status()), "statistics[1]");
  Question rows = SumOf(ElementType::kInt8, {GroupingKind::kAxis1, {}});
  rows.columns = 1;
  EXPECT_TRUE(Fold(rows, "abc", {2, 3}, kRoomyLane, 3).ok());
  EXPECT_EQ(FieldOf(Fold(rows, "abcd", {2, 4}, kRoomyLane, 3).status()), "grouping.axis");
  rows.spec.statistics = {Statistic::kVariance};
  rows.spec.delta_degrees_of_freedom = 1;
  EXPECT_EQ(FieldOf(Fold(rows, "a", {1}).status()), "delta_degrees_of_freedom");
  Question columns = SumOf(ElementType::kInt64, {GroupingKind::kAxis0, {}});
  columns.columns = 9;
  LaneOptions small = kRoomyLane;
  small.input_bytes_max = 71;
  EXPECT_EQ(FieldOf(Fold(columns, "", {}, small).status()), "array.streamed_array.column_count");
  small = kRoomyLane;
  small.output_bytes_max = 1000;
  EXPECT_EQ(FieldOf(Fold(columns, "", {}, small).status()), "grouping.axis");
  Question indices = SumOf(ElementType::kInt8);
  indices.first_index = kNoIndex - 2;
  EXPECT_TRUE(Fold(indices, "ab", {2}).ok());
  EXPECT_EQ(FieldOf(Fold(indices, "abc", {2, 3}).status()), "first_index");
}

}  // namespace
}  // namespace gridfold::kernels
