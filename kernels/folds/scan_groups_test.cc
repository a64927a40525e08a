// Where the groups of a scan's parts are, and every field of the plan of a part.
#include "kernels/folds/scan_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace gridfold::kernels {
namespace {

using testing::ElementsAre;

// Of 20 elements.
ScanGroups GroupsOf(Grouping grouping, ScanDirection direction = ScanDirection::kForward) {
  return ScanGroups({.array = ArrayDescription::Vector(ElementType::kInt16, 20),
                     .operation = ScanOperation::kProduct,
                     .mode = ScanMode::kExclusive,
                     .direction = direction,
                     .grouping = std::move(grouping),
                     .output_type = ElementType::kInt32,
                     .nan_policy = NanPolicy::kIgnore,
                     .overflow_policy = OverflowPolicy::kWrap});
}

Grouping Whole() { return {.group_size = 20, .offsets = {}}; }

Grouping RowsOfFive() {
  return {.kind = GroupingKind::kAxis1, .group_count = 4, .group_size = 5, .offsets = {}};
}

// The second is empty.
Grouping Ragged() {
  return {.kind = GroupingKind::kSegments,
          .group_count = 4,
          .group_size = 10,
          .offsets = {0, 3, 3, 10, 20}};
}

std::vector<uint64_t> BoundariesOf(const ScanGroups& groups) {
  std::vector<uint64_t> boundaries;
  for (uint64_t element = 0; element <= groups.element_count(); ++element) {
    if (groups.IsBoundary(element)) boundaries.push_back(element);
  }
  return boundaries;
}

TEST(ScanGroupsTest, BoundariesAreBetweenGroups) {
  EXPECT_THAT(BoundariesOf(GroupsOf(Whole())), ElementsAre(0, 20));
  EXPECT_THAT(BoundariesOf(GroupsOf(RowsOfFive())), ElementsAre(0, 5, 10, 15, 20));
  EXPECT_THAT(BoundariesOf(GroupsOf(Ragged())), ElementsAre(0, 3, 10, 20));
}

TEST(ScanGroupsTest, TheLastStartIsCountedInTheScansDirection) {
  for (const Grouping& grouping : {Whole(), RowsOfFive(), Ragged()}) {
    const ScanGroups forward = GroupsOf(grouping);
    const ScanGroups reverse = GroupsOf(grouping, ScanDirection::kReverse);
    EXPECT_FALSE(forward.is_reverse());
    EXPECT_TRUE(reverse.is_reverse());
    for (uint64_t first = 0; first < 20; ++first) {
      EXPECT_EQ(forward.LastStart(first, 0), std::nullopt);
      EXPECT_EQ(reverse.LastStart(first, 0), std::nullopt);
      for (uint64_t count = 1; first + count <= 20; ++count) {
        // A group starts, going forwards, with the element behind a boundary, and else with the one
        // before it.
        std::optional<uint64_t> last_forward;
        std::optional<uint64_t> last_reverse;
        for (uint64_t i = 0; i < count; ++i) {
          if (forward.IsBoundary(first + i)) last_forward = i;
          if (forward.IsBoundary(first + count - i)) last_reverse = i;
        }
        EXPECT_EQ(forward.LastStart(first, count), last_forward) << first << ", " << count;
        EXPECT_EQ(reverse.LastStart(first, count), last_reverse) << first << ", " << count;
      }
    }
  }
}

void ExpectPlan(const ScanPlan& plan, uint64_t count, GroupingKind kind, uint64_t group_count,
                uint64_t group_size, const std::vector<uint64_t>& offsets) {
  EXPECT_EQ(plan.array.element_count, count);
  EXPECT_EQ(plan.grouping.kind, kind);
  EXPECT_EQ(plan.grouping.group_count, group_count);
  EXPECT_EQ(plan.grouping.group_size, group_size);
  EXPECT_EQ(plan.grouping.offsets, offsets);
  EXPECT_EQ(plan.array.element_type, ElementType::kInt16);
  EXPECT_EQ(plan.operation, ScanOperation::kProduct);
  EXPECT_EQ(plan.mode, ScanMode::kExclusive);
  EXPECT_EQ(plan.direction, ScanDirection::kReverse);
  EXPECT_EQ(plan.output_type, ElementType::kInt32);
  EXPECT_EQ(plan.nan_policy, NanPolicy::kIgnore);
  EXPECT_EQ(plan.overflow_policy, OverflowPolicy::kWrap);
  EXPECT_FALSE(plan.exact);
}

TEST(ScanGroupsTest, PartsHaveTheirOwnGroups) {
  using enum GroupingKind;
  const ScanGroups rows = GroupsOf(RowsOfFive(), ScanDirection::kReverse);
  ExpectPlan(rows.PlanOf(5, 5), 5, kAxis1, 1, 5, {});
  ExpectPlan(rows.PlanOf(5, 10), 10, kAxis1, 2, 5, {});
  ExpectPlan(rows.PlanOf(5, 11), 11, kSegments, 3, 5, {0, 5, 10, 11});
  ExpectPlan(rows.PlanOf(3, 12), 12, kSegments, 3, 5, {0, 2, 7, 12});
  ExpectPlan(rows.PlanOf(6, 4), 4, kWhole, 1, 4, {});
  ExpectPlan(rows.PlanOf(5, 0), 0, kWhole, 1, 0, {});
  const ScanGroups ragged = GroupsOf(Ragged(), ScanDirection::kReverse);
  ExpectPlan(ragged.PlanOf(2, 9), 9, kSegments, 3, 7, {0, 1, 8, 9});
  ExpectPlan(ragged.PlanOf(3, 7), 7, kWhole, 1, 7, {});
  ExpectPlan(ragged.PlanOf(0, 20), 20, kSegments, 3, 10, {0, 3, 10, 20});
  const ScanGroups whole = GroupsOf(Whole(), ScanDirection::kReverse);
  ExpectPlan(whole.PlanOf(3, 9), 9, kWhole, 1, 9, {});
  ExpectPlan(whole.PlanOfOneGroup(4), 4, kWhole, 1, 4, {});
}

TEST(ScanGroupsTest, OrderMattersWhereResultsAreRounded) {
  const auto matters = [](ElementType type, ScanOperation operation, bool exact = false) {
    return ScanGroups({.array = ArrayDescription::Vector(type, 20),
                       .operation = operation,
                       .grouping = Whole(),
                       .exact = exact})
        .OrderMatters();
  };
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat64}) {
    EXPECT_TRUE(matters(type, ScanOperation::kSum));
    EXPECT_TRUE(matters(type, ScanOperation::kProduct));
    EXPECT_FALSE(matters(type, ScanOperation::kSum, /*exact=*/true));
    EXPECT_FALSE(matters(type, ScanOperation::kMin));
    EXPECT_FALSE(matters(type, ScanOperation::kMax));
  }
  EXPECT_FALSE(matters(ElementType::kInt64, ScanOperation::kSum));
}

}  // namespace
}  // namespace gridfold::kernels
