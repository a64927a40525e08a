// Folds of reductions by key: however keys and values are cut, and however few groups a lane takes,
// the answer and the accumulator are those of one run.
#include "kernels/folds/keyed_fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/invalid_field.h"
#include "kernels/contract/lane_limits.h"
#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr ElementType kKeyType = ElementType::kInt32;

class KeyedFoldTest : public FoldTest {
 protected:
  static KeyedReductionPlan Plan(const KeyGroupsSpec& groups, ElementType type, uint64_t count,
                                 bool part) {
    KeyedReductionSpec spec{.groups = groups, .reduction = {}};
    spec.reduction.statistics = {Statistic::kSum, Statistic::kMin, Statistic::kArgmax,
                                 Statistic::kVariance};
    spec.reduction.overflow_policy = OverflowPolicy::kWrap;
    spec.reduction.return_states = part;
    KeyedReductionPlan plan =
        OutlineKeyedReduction(ArrayDescription::Vector(kKeyType, count),
                              ArrayDescription::Vector(type, count), spec, 1 << 20)
            .value();
    EXPECT_TRUE(CompletePlan({}, plan).ok());
    return plan;
  }

  static absl::string_view Part(const std::string& bytes, ElementType type, uint64_t first,
                                uint64_t count) {
    return absl::string_view(bytes).substr(first * ElementSize(type), count * ElementSize(type));
  }

  static absl::StatusOr<KeyedReductionResult> Run(Lane& lane, const KeyedReductionPlan& plan,
                                                  const std::string& keys,
                                                  const std::string& values, uint64_t first) {
    const uint64_t count = plan.keys.element_count;
    const ElementType type = plan.reduction.array.element_type;
    RunStatistics statistics;
    return lane.RunKeyedReduction(plan,
                                  {.keys = SpanOf(Part(keys, kKeyType, first, count)),
                                   .values = SpanOf(Part(values, type, first, count))},
                                  {}, statistics);
  }

  KeyedPart OneRun(const KeyGroupsSpec& groups, ElementType type, const std::string& keys,
                   const std::string& values, uint64_t count, bool part) {
    const KeyedReductionPlan plan = Plan(groups, type, count, part);
    auto result = Run(*lane_, part ? PlanStates(plan) : plan, keys, values, 0);
    EXPECT_TRUE(result.ok()) << result.status();
    if (part) return MakeKeyedPart(plan, 9, *std::move(result), {}).value();
    return {.answer = SpreadGroups(plan, *std::move(result)), .accumulator = {}};
  }

  KeyedPart Folded(const KeyGroupsSpec& groups, ElementType type, const std::string& keys,
                   const std::string& values, const std::vector<size_t>& ends, bool part,
                   const LaneOptions& options) {
    const auto lane = engine_->CreateLane(options).value();
    const auto fold = KeyedFold::Make({.plan = Plan(groups, type, 0, part),
                                       .key_count_max = 9,
                                       .first_index = 0,
                                       .lane = options});
    uint64_t used = 0;
    for (const size_t end : ends) {
      while (const KeyedReductionPlan* const batch = fold->NextBatch(end - used)) {
        const HostSpan of_batch = SpanOf(Part(keys, kKeyType, used, batch->keys.element_count));
        const auto added = fold->Add(Run(*lane, *batch, keys, values, used),
                                     {{&of_batch, 1}, of_batch.size_bytes});
        EXPECT_TRUE(added.ok()) << added.status();
        if (!added.ok()) return {};
        used += *added;
      }
    }
    EXPECT_GT(fold->state_bytes(), 0u);
    return fold->Finish({}).value();
  }
};

TEST_F(KeyedFoldTest, IsOneRunHoweverItIsCut) {
  const uint64_t count = 700;
  std::vector<int32_t> keys(count);
  for (int32_t& key : keys) key = static_cast<int32_t>(random_() % (1 + random_() % 90)) - 30;
  KeyBinsSpec bins;
  bins.bins.push_back(EdgeBinsSpec{{-20, -3, 0, 8}});
  const std::vector<KeyGroupsSpec> all_groups = {
      FoundKeysSpec{}, KeyRangeSpec{.first_key = -30, .key_count = 100}, bins};
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat64, ElementType::kInt8}) {
    const std::string values = RandomElements(type, count);
    for (const KeyGroupsSpec& groups : all_groups) {
      for (const bool part : {false, true}) {
        const KeyedPart expected = OneRun(groups, type, BytesOf(keys), values, count, part);
        LaneOptions few_groups = kRoomyLane;
        few_groups.group_count_max = 3;
        LaneOptions few_bytes = kRoomyLane;
        few_bytes.input_bytes_max = 100;
        for (const LaneOptions& lane : {kRoomyLane, few_groups, few_bytes}) {
          const KeyedPart folded =
              Folded(groups, type, BytesOf(keys), values, RandomEnds(count), part, lane);
          EXPECT_EQ(folded.accumulator, expected.accumulator);
          EXPECT_EQ(folded.answer.keys, expected.answer.keys);
          EXPECT_EQ(folded.answer.counts, expected.answer.counts);
          ASSERT_EQ(folded.answer.columns.size(), expected.answer.columns.size());
          for (size_t i = 0; i < expected.answer.columns.size(); ++i) {
            EXPECT_EQ(folded.answer.columns[i].slots, expected.answer.columns[i].slots);
          }
        }
      }
    }
  }
}

TEST_F(KeyedFoldTest, FoundKeysOfAllBatchesAreCounted) {
  const LaneOptions lane = kRoomyLane;
  const auto fold = KeyedFold::Make(
      {.plan = Plan(FoundKeysSpec{.key_count_max = 2}, ElementType::kInt8, 0, false),
       .key_count_max = 2,
       .first_index = 0,
       .lane = lane});
  absl::Status status;
  for (const int32_t key : {1, 2, 1, 3}) {
    const std::string keys = BytesOf(std::vector<int32_t>{key});
    const HostSpan span = SpanOf(keys);
    EXPECT_TRUE(status.ok()) << status;
    status = fold->Add(Run(*lane_, *fold->NextBatch(1), keys, "a", 0), {{&span, 1}, 4}).status();
  }
  EXPECT_EQ(FieldOf(status), "found.key_count_max");
}

// The second of two batches has it, and its elements are counted from the beginning of all.
TEST_F(KeyedFoldTest, AKeyOutsideOfARangeIsNamed) {
  const auto error = [&](ElementType key_type, const KeyRangeSpec& range,
                         const std::string& good_keys, const std::string& keys) {
    KeyedReductionSpec spec{.groups = range, .reduction = {}};
    spec.reduction.statistics = {Statistic::kSum};
    const auto plan_of = [&](uint64_t count) {
      KeyedReductionPlan plan =
          OutlineKeyedReduction(ArrayDescription::Vector(key_type, count),
                                ArrayDescription::Vector(ElementType::kInt8, count), spec, 1 << 20)
              .value();
      EXPECT_TRUE(CompletePlan({}, plan).ok());
      return plan;
    };
    const auto fold = KeyedFold::Make({.plan = plan_of(0), .lane = kRoomyLane});
    absl::Status status;
    for (const std::string& batch : {good_keys, keys}) {
      EXPECT_TRUE(status.ok()) << status;
      const uint64_t count = batch.size() / ElementSize(key_type);
      const std::string values(count, '\1');
      const KeyedReductionPlan* const plan = fold->NextBatch(count);
      RunStatistics statistics;
      const HostSpan span = SpanOf(batch);
      status = fold->Add(lane_->RunKeyedReduction(*plan, {.keys = span, .values = SpanOf(values)},
                                                  {}, statistics),
                         {{&span, 1}, span.size_bytes})
                   .status();
    }
    EXPECT_EQ(FieldOf(status), "keys");
    return std::string(status.message());
  };
  EXPECT_EQ(error(ElementType::kInt32, {.first_key = -3, .key_count = 5},
                  BytesOf(std::vector<int32_t>{-3, 1}), BytesOf(std::vector<int32_t>{0, 1, 2, -4})),
            "keys: key 2 of element 4 is not among the 5 from -3 on");
  EXPECT_EQ(error(ElementType::kInt32, {.first_key = -3, .key_count = 5},
                  BytesOf(std::vector<int32_t>{-3}), BytesOf(std::vector<int32_t>{-4})),
            "keys: key -4 of element 1 is not among the 5 from -3 on");
  constexpr uint64_t kLarge = uint64_t{1} << 63;
  EXPECT_EQ(error(ElementType::kUint64, {.key_count = 2, .first_unsigned_key = kLarge + 1},
                  BytesOf(std::vector<uint64_t>{kLarge + 1, kLarge + 2}),
                  BytesOf(std::vector<uint64_t>{kLarge + 2, kLarge + 1, kLarge})),
            "keys: key 9223372036854775808 of element 4 is not among the 2 from "
            "9223372036854775809 on");
}

TEST_F(KeyedFoldTest, WhatIsInNoBinIsCountedOverAllBatches) {
  KeyBinsSpec bins;
  bins.bins.push_back(EdgeBinsSpec{{0, 1, 2}});
  KeyedReductionSpec spec{.groups = bins, .reduction = {}};
  spec.reduction.statistics = {Statistic::kCount};
  KeyedReductionPlan plan =
      OutlineKeyedReduction(ArrayDescription::Vector(ElementType::kFloat32, 0),
                            ArrayDescription::Vector(ElementType::kInt8, 0), spec, 1 << 20)
          .value();
  ASSERT_TRUE(CompletePlan({}, plan).ok());
  const auto fold = KeyedFold::Make({.plan = plan, .lane = kRoomyLane});
  for (const std::vector<float>& batch :
       {std::vector<float>{-1, 0, 3, NAN, NAN, 1}, {5, 6, 7, NAN, NAN, NAN, -0.5F, 1.5F}}) {
    const std::string keys = BytesOf(batch);
    const std::string values(batch.size(), '\1');
    const HostSpan span = SpanOf(keys);
    RunStatistics statistics;
    const auto used = fold->Add(
        lane_->RunKeyedReduction(*fold->NextBatch(batch.size()),
                                 {.keys = span, .values = SpanOf(values)}, {}, statistics),
        {{&span, 1}, span.size_bytes});
    ASSERT_TRUE(used.ok()) << used.status();
    EXPECT_EQ(*used, batch.size());
  }
  EXPECT_EQ(fold->outcomes().underflow_count, 2u);
  EXPECT_EQ(fold->outcomes().overflow_count, 4u);
  EXPECT_EQ(fold->outcomes().nan_count, 5u);
  EXPECT_EQ(fold->plan().keys.element_count, 14u);
  EXPECT_EQ(fold->Finish({})->answer.counts, (std::vector<uint64_t>{1, 2}));
}

TEST_F(KeyedFoldTest, IndicesBeginWhereTheWholeSays) {
  const auto fold_from = [&](uint64_t first_index) {
    return KeyedFold::Make({.plan = Plan(FoundKeysSpec{}, ElementType::kInt8, 0, false),
                            .key_count_max = 9,
                            .first_index = first_index,
                            .lane = kRoomyLane});
  };
  const std::string keys = BytesOf(std::vector<int32_t>{7, 7, 8});
  const HostSpan span = SpanOf(keys);
  const auto add = [&](KeyedFold& fold) {
    return fold.Add(Run(*lane_, *fold.NextBatch(3), keys, "\1\2\3", 0),
                    {{&span, 1}, span.size_bytes});
  };
  const auto fold = fold_from(1000);
  for (int batch = 0; batch < 2; ++batch) ASSERT_TRUE(add(*fold).ok());
  // The first of equal ones; of the two keys.
  EXPECT_EQ(fold->Finish({})->answer.columns[2].slots, (std::vector<uint64_t>{1001, 1002}));
  // The last index there is stands for none.
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max() - 6;
  const auto last = fold_from(kMost);
  EXPECT_TRUE(add(*last).ok());
  EXPECT_TRUE(add(*last).ok());
  const auto beyond = fold_from(kMost + 1);
  EXPECT_TRUE(add(*beyond).ok());
  EXPECT_EQ(FieldOf(add(*beyond).status()), "first_index");
}

TEST_F(KeyedFoldTest, AFoldStops) {
  const auto fold = KeyedFold::Make({.plan = Plan(FoundKeysSpec{}, ElementType::kInt8, 0, false),
                                     .key_count_max = 9,
                                     .first_index = 0,
                                     .lane = kRoomyLane});
  const std::string keys = BytesOf(std::vector<int32_t>{1});
  const HostSpan span = SpanOf(keys);
  ASSERT_TRUE(fold->Add(Run(*lane_, *fold->NextBatch(1), keys, "a", 0), {{&span, 1}, 4}).ok());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(fold->Finish(stop.get_token()).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace gridfold::kernels
