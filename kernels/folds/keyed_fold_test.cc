// Folds of reductions by key: however keys and values are cut, and however few groups a lane takes,
// the answer and the accumulator are those of one run.
#include "kernels/folds/keyed_fold.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gridfold::kernels
