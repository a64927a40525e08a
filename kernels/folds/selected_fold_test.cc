// Folds of the elements that a mask selects: however elements and mask are cut, and however few
// groups a lane takes, each group has the bits of a run over its selected elements alone.
#include "kernels/folds/selected_fold.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/invalid_field.h"
#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kRows = 31;
constexpr uint64_t kColumns = 12;
constexpr ElementType kType = ElementType::kFloat32;

class SelectedFoldTest : public FoldTest {
 protected:
  static ReductionPlan Plan(GroupingSpec grouping, bool is_matrix) {
    ReductionSpec spec;
    spec.statistics = {Statistic::kSum, Statistic::kCount, Statistic::kArgmax};
    spec.grouping = std::move(grouping);
    spec.return_states = true;
    ReductionPlan plan = PlanReduction(is_matrix ? ArrayDescription::Matrix(kType, 0, kColumns)
                                                 : ArrayDescription::Vector(kType, 0),
                                       std::move(spec))
                             .value();
    plan.return_states = false;
    return plan;
  }

  // The selected elements of a group, and where in it they stand.
  struct Group {
    std::vector<float> elements;
    std::vector<uint64_t> places;
  };

  void ExpectEachGroup(const ReductionPlan& plan, const std::vector<Group>& groups,
                       const std::string& elements, const std::string& mask,
                       const LaneOptions& options) {
    const auto lane = engine_->CreateLane(options).value();
    auto fold = SelectedFold::Make(
                    {.plan = plan, .first_index = 5, .lane = options, .group_count_max = 1 << 20})
                    .value();
    uint64_t used = 0;
    for (const size_t end : RandomEnds(mask.size())) {
      while (true) {
        const uint64_t count = fold->NextBatch(end - used).value();
        if (count == 0) break;
        const HostSpan x = SpanOf(absl::string_view(elements).substr(used * 4, count * 4));
        const HostSpan m = SpanOf(absl::string_view(mask).substr(used, count));
        fold->Select({{&x, 1}, x.size_bytes}, {{&m, 1}, m.size_bytes});
        RunStatistics statistics;
        used +=
            fold->Add(lane->RunKeyedReduction(fold->plan_of_batch(), fold->input(), {}, statistics))
                .value();
      }
    }
    const auto merged = fold->Finish(0);
    ASSERT_TRUE(merged.ok()) << merged.status();
    ASSERT_EQ(merged->result.columns[0].slots.size(), groups.size());
    for (size_t g = 0; g < groups.size(); ++g) ExpectGroup(groups[g], g, merged->result);
  }

  void ExpectGroup(const Group& group, size_t g, const ReductionResult& actual) {
    ReductionSpec spec;
    spec.statistics = {Statistic::kSum, Statistic::kCount, Statistic::kArgmax};
    const auto plan =
        PlanReduction(ArrayDescription::Vector(kType, group.elements.size()), spec).value();
    RunStatistics statistics;
    const std::string bytes = BytesOf(group.elements);
    const auto expected = lane_->RunReduction(plan, SpanOf(bytes), {}, statistics).value();
    EXPECT_EQ(actual.columns[0].slots[g], expected.columns[0].slots[0]);
    EXPECT_EQ(actual.columns[1].slots[g], group.elements.size());
    EXPECT_EQ(actual.columns[2].slots[g], 5 + group.places[expected.columns[2].slots[0]]);
  }
};

TEST_F(SelectedFoldTest, EachGroupIsThatOfItsSelectedElements) {
  const uint64_t count = kRows * kColumns;
  const std::string elements = RandomElements(kType, count);
  std::string mask(count, '\0');
  // One at least of each row and column.
  for (uint64_t i = 0; i < count; ++i) {
    const bool is_needed = i % kColumns == i / kColumns % kColumns;
    mask[i] = is_needed || random_() % 3 == 0 ? '\1' : '\0';
  }
  const std::vector<uint64_t> offsets = {0, 100, 113, 200, count};
  const auto gather = [&](size_t group_count, auto place_of) {
    std::vector<Group> groups(group_count);
    for (uint64_t i = 0; i < count; ++i) {
      if (mask[i] == 0) continue;
      const auto [g, place] = place_of(i);
      float x;
      std::memcpy(&x, elements.data() + i * 4, 4);
      groups[g].elements.push_back(x);
      groups[g].places.push_back(place);
    }
    return groups;
  };
  using Place = std::pair<uint64_t, uint64_t>;
  const auto whole = gather(1, [](uint64_t i) { return Place(0, i); });
  const auto rows = gather(kRows, [](uint64_t i) { return Place(i / kColumns, i % kColumns); });
  const auto columns =
      gather(kColumns, [](uint64_t i) { return Place(i % kColumns, i / kColumns); });
  const auto segments = gather(4, [&](uint64_t i) {
    uint64_t g = 0;
    while (i >= offsets[g + 1]) ++g;
    return Place(g, i - offsets[g]);
  });
  LaneOptions few_groups = kRoomyLane;
  few_groups.group_count_max = 2;
  for (const LaneOptions& lane : {kRoomyLane, few_groups}) {
    ExpectEachGroup(Plan({}, false), whole, elements, mask, lane);
    ExpectEachGroup(Plan({GroupingKind::kAxis1, {}}, true), rows, elements, mask, lane);
    ExpectEachGroup(Plan({GroupingKind::kAxis0, {}}, true), columns, elements, mask, lane);
    ReductionPlan of_segments = Plan({}, false);
    of_segments.grouping = {.kind = GroupingKind::kSegments, .group_count = 4, .offsets = offsets};
    ExpectEachGroup(of_segments, segments, elements, mask, lane);
  }
}

// What no lane takes is told before anything runs.
TEST_F(SelectedFoldTest, ColumnsThatNoLaneTakesAreRefused) {
  const auto field = [](GroupingKind kind, uint64_t input_bytes_max, uint64_t output_bytes_max) {
    LaneOptions lane = kRoomyLane;
    lane.input_bytes_max = input_bytes_max;
    lane.output_bytes_max = output_bytes_max;
    return FieldOf(SelectedFold::Make({.plan = Plan({kind, {}}, true),
                                       .first_index = 0,
                                       .lane = lane,
                                       .group_count_max = 1 << 20})
                       .status());
  };
  constexpr uint64_t kRowBytes = kColumns * sizeof(float);
  EXPECT_EQ(field(GroupingKind::kAxis0, kRowBytes, 1 << 20), "");
  EXPECT_EQ(field(GroupingKind::kAxis0, kRowBytes - 1, 1 << 20),
            "array.streamed_array.column_count");
  EXPECT_EQ(field(GroupingKind::kAxis0, kRowBytes, kColumns), "grouping.axis");
  EXPECT_EQ(field(GroupingKind::kAxis1, 4, kColumns), "");
}

}  // namespace
}  // namespace gridfold::kernels
