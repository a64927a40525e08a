#include "kernels/folds/scan_groups.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gridfold::kernels {

ScanGroups::ScanGroups(ScanPlan plan) : plan_(std::move(plan)) {}

bool ScanGroups::OrderMatters() const {
  const bool is_extreme =
      plan_.operation == ScanOperation::kMin || plan_.operation == ScanOperation::kMax;
  return IsFloatingPoint(plan_.array.element_type) && !plan_.exact && !is_extreme;
}

uint64_t ScanGroups::BoundaryUpTo(uint64_t element) const {
  const Grouping& grouping = plan_.grouping;
  switch (grouping.kind) {
    case GroupingKind::kSegments:
      return *std::prev(
          std::upper_bound(grouping.offsets.begin(), grouping.offsets.end(), element));
    case GroupingKind::kAxis1:
      return element - element % std::max<uint64_t>(grouping.group_size, 1);
    case GroupingKind::kWhole:
    case GroupingKind::kAxis0: break;
  }
  return element < element_count() ? 0 : element_count();
}

uint64_t ScanGroups::BoundaryFrom(uint64_t element) const {
  const Grouping& grouping = plan_.grouping;
  switch (grouping.kind) {
    case GroupingKind::kSegments:
      return *std::lower_bound(grouping.offsets.begin(), grouping.offsets.end(), element);
    case GroupingKind::kAxis1: {
      const uint64_t before = BoundaryUpTo(element);
      return before == element ? element : before + grouping.group_size;
    }
    case GroupingKind::kWhole:
    case GroupingKind::kAxis0: break;
  }
  return element == 0 ? 0 : element_count();
}

bool ScanGroups::IsBoundary(uint64_t element) const { return BoundaryUpTo(element) == element; }

std::optional<uint64_t> ScanGroups::LastStart(uint64_t first_element, uint64_t count) const {
  if (count == 0) return std::nullopt;
  const uint64_t end = first_element + count;
  if (is_reverse()) {
    const uint64_t boundary = BoundaryFrom(first_element + 1);
    return boundary <= end ? std::optional(end - boundary) : std::nullopt;
  }
  const uint64_t boundary = BoundaryUpTo(end - 1);
  return boundary >= first_element ? std::optional(boundary - first_element) : std::nullopt;
}

ScanPlan ScanGroups::PlanOfOneGroup(uint64_t count) const {
  return {.array = ArrayDescription::Vector(plan_.array.element_type, count),
          .operation = plan_.operation,
          .mode = plan_.mode,
          .direction = plan_.direction,
          .grouping = {.group_size = count, .offsets = {}},
          .output_type = plan_.output_type,
          .nan_policy = plan_.nan_policy,
          .overflow_policy = plan_.overflow_policy,
          .exact = plan_.exact};
}

ScanPlan ScanGroups::PlanOf(uint64_t first_element, uint64_t count) const {
  const uint64_t end = first_element + count;
  ScanPlan plan = PlanOfOneGroup(count);
  const uint64_t group_size = plan_.grouping.group_size;
  const bool has_rows = plan_.grouping.kind == GroupingKind::kAxis1 && count > 0;
  if (has_rows && IsBoundary(first_element) && IsBoundary(end)) {
    plan.array = ArrayDescription::Matrix(plan_.array.element_type, count / group_size, group_size);
    plan.grouping.kind = GroupingKind::kAxis1;
    plan.grouping.group_count = count / group_size;
    plan.grouping.group_size = group_size;
    return plan;
  }
  std::vector<uint64_t> offsets = {0};
  uint64_t longest = 0;
  for (uint64_t element = first_element; element < end;) {
    element = std::min(BoundaryFrom(element + 1), end);
    longest = std::max(longest, element - first_element - offsets.back());
    offsets.push_back(element - first_element);
  }
  if (offsets.size() <= 2) return plan;
  plan.grouping.kind = GroupingKind::kSegments;
  plan.grouping.group_size = longest;
  plan.grouping.group_count = offsets.size() - 1;
  plan.grouping.offsets = std::move(offsets);
  return plan;
}

}  // namespace gridfold::kernels
