#include "kernels/contract/reduction.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/output_type.h"
#include "kernels/contract/reduction_checks.h"
#include "kernels/contract/segments.h"
#include "kernels/contract/slots.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/types/statistic_set.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();

// The product of extents, or nothing where 64 bits do not hold it.
std::optional<uint64_t> ElementCount(std::initializer_list<uint64_t> extents) {
  uint64_t count = 1;
  for (const uint64_t extent : extents) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

absl::Status ValidateDescription(const ArrayDescription& array) {
  if (array.element_count > kUint64Max / ElementSize(array.element_type)) {
    return InvalidField("array", "the size in bytes does not fit in 64 bits");
  }
  if (!array.is_matrix) return absl::OkStatus();
  if (ElementCount({array.matrices, array.rows, array.columns}) == array.element_count) {
    return absl::OkStatus();
  }
  return InvalidField("array", absl::StrCat(array.rows, " rows of ", array.columns,
                                            " columns are not ", array.element_count, " elements"));
}

absl::Status ValidateOffsets(const std::vector<uint64_t>& offsets, uint64_t element_count) {
  constexpr char kField[] = "grouping.segments.offsets";
  if (offsets.empty()) {
    return InvalidField(kField, "one more offset than segments is needed, so at least one");
  }
  const auto invalid = [&](size_t i, const std::string& description) {
    return InvalidField(absl::StrCat(kField, "[", i, "]"), description);
  };
  if (offsets.front() != 0) return invalid(0, "the first offset must be 0");
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) return invalid(i, "smaller than the offset before it");
  }
  if (offsets.back() != element_count) {
    return invalid(offsets.size() - 1,
                   absl::StrCat("the last offset must be the number of elements, ", element_count));
  }
  return absl::OkStatus();
}

absl::Status ValidateStatistics(const std::vector<Statistic>& statistics, ElementType type,
                                bool return_states) {
  if (statistics.empty()) return InvalidField("statistics", "at least one is needed");
  StatisticSet seen;
  for (size_t i = 0; i < statistics.size(); ++i) {
    const Statistic statistic = statistics[i];
    const std::string field = absl::StrCat("statistics[", i, "]");
    if (seen.Has(statistic)) {
      return InvalidField(field, absl::StrCat(StatisticName(statistic), " is asked for twice"));
    }
    seen.Add(statistic);
    if (!IsDefinedFor(statistic, type)) {
      return InvalidField(field, absl::StrCat(StatisticName(statistic), " is not defined for ",
                                              ElementTypeName(type), " elements"));
    }
    if (return_states && statistic == Statistic::kProduct && IsFloatingPoint(type)) {
      return InvalidField(field,
                          "floating-point products cannot be merged: they depend on where "
                          "in the array the elements stand");
    }
  }
  return absl::OkStatus();
}

}  // namespace

uint32_t PartsOf(const ReductionPlan& plan) {
  uint32_t parts = 0;
  for (const Statistic statistic : plan.statistics) {
    parts |= PartsOf(statistic, IsFloatingPoint(plan.array.element_type),
                     plan.nan_policy == NanPolicy::kIgnore);
  }
  return parts;
}

bool HasFloatingProduct(const ReductionPlan& plan) {
  return IsFloatingPoint(plan.array.element_type) &&
         std::find(plan.statistics.begin(), plan.statistics.end(), Statistic::kProduct) !=
             plan.statistics.end();
}

std::optional<GroupSizeProblem> FindGroupSizeProblem(Statistic statistic,
                                                     uint32_t delta_degrees_of_freedom,
                                                     uint64_t group, uint64_t element_count) {
  const StatisticTraits traits = TraitsOf(statistic);
  if (traits.needs_elements && element_count == 0) {
    return GroupSizeProblem{false, absl::StrCat(StatisticName(statistic), " of no elements (group ",
                                                group, " is empty)")};
  }
  if (traits.uses_degrees_of_freedom && element_count <= delta_degrees_of_freedom) {
    return GroupSizeProblem{
        true, absl::StrCat(delta_degrees_of_freedom, " is not smaller than the ", element_count,
                           " elements of group ", group)};
  }
  return std::nullopt;
}

absl::Status GroupSizeError(size_t statistic_index, const GroupSizeProblem& problem) {
  return InvalidField(problem.is_degrees_of_freedom
                          ? "delta_degrees_of_freedom"
                          : absl::StrCat("statistics[", statistic_index, "]"),
                      problem.description);
}

absl::Status CheckGroupSizes(const ReductionPlan& plan) {
  const std::optional<SmallestGroup> smallest = FindSmallestGroup(plan.grouping);
  if (!smallest.has_value()) return absl::OkStatus();
  for (size_t i = 0; i < plan.statistics.size(); ++i) {
    const std::optional<GroupSizeProblem> problem = FindGroupSizeProblem(
        plan.statistics[i], plan.delta_degrees_of_freedom, smallest->group, smallest->size);
    if (problem.has_value()) return GroupSizeError(i, *problem);
  }
  return absl::OkStatus();
}

absl::StatusOr<Grouping> PlanGrouping(const ArrayDescription& array, GroupingSpec spec) {
  if (absl::Status status = ValidateDescription(array); !status.ok()) return status;
  Grouping grouping;
  grouping.kind = spec.kind;
  switch (spec.kind) {
    case GroupingKind::kWhole: grouping.group_size = array.element_count; return grouping;
    case GroupingKind::kAxis0:
    case GroupingKind::kAxis1: {
      if (!array.is_matrix) {
        return InvalidField("grouping.axis", "the array is not two-dimensional");
      }
      const bool down_the_rows = spec.kind == GroupingKind::kAxis0;
      grouping.matrices = down_the_rows ? array.matrices : 1;
      grouping.group_count = array.matrices * (down_the_rows ? array.columns : array.rows);
      grouping.group_size = down_the_rows ? array.rows : array.columns;
      return grouping;
    }
    case GroupingKind::kSegments: break;
  }
  if (array.is_matrix) {
    return InvalidField("grouping.segments", "the array is not one-dimensional");
  }
  if (absl::Status status = ValidateOffsets(spec.offsets, array.element_count); !status.ok()) {
    return status;
  }
  return SegmentsAt(std::move(spec.offsets));
}

absl::StatusOr<ReductionPlan> PlanGroupsOfAnySize(const ArrayDescription& array,
                                                  ReductionSpec spec) {
  if (absl::Status status =
          ValidateStatistics(spec.statistics, array.element_type, spec.return_states);
      !status.ok()) {
    return status;
  }
  if (spec.output_type) {
    absl::Status status = CheckOutputType(*spec.output_type, spec.statistics, array.element_type);
    if (!status.ok()) return status;
  }
  absl::StatusOr<Grouping> grouping = PlanGrouping(array, std::move(spec.grouping));
  if (!grouping.ok()) return grouping.status();
  return ReductionPlan{.array = array,
                       .statistics = std::move(spec.statistics),
                       .grouping = *std::move(grouping),
                       .nan_policy = spec.nan_policy,
                       .overflow_policy = spec.overflow_policy,
                       .delta_degrees_of_freedom = spec.delta_degrees_of_freedom,
                       .return_states = spec.return_states,
                       .strategy = std::move(spec.strategy),
                       .output_type = spec.output_type.value_or(ElementType::kFloat64)};
}

absl::StatusOr<ReductionPlan> PlanReduction(const ArrayDescription& array, ReductionSpec spec) {
  absl::StatusOr<ReductionPlan> plan = PlanGroupsOfAnySize(array, std::move(spec));
  if (!plan.ok() || plan->return_states) return plan;
  if (absl::Status status = CheckGroupSizes(*plan); !status.ok()) return status;
  return plan;
}

ReductionResult MakeReductionResult(const ReductionPlan& plan) {
  ReductionResult result;
  result.columns.reserve(plan.statistics.size());
  for (const Statistic statistic : plan.statistics) {
    result.columns.push_back({statistic, ValueKindOf(statistic, plan.array.element_type),
                              EmptySlots(plan.grouping.group_count)});
  }
  return result;
}

void ShiftIndices(uint64_t first_index, ReductionResult& result) {
  for (StatisticColumn& column : result.columns) {
    if (!TraitsOf(column.statistic).is_index) continue;
    for (uint64_t& slot : column.slots) slot += first_index;
  }
  const auto shift = [first_index](auto& groups) {
    for (auto& state : groups) state.template Part<kExtremesPart>().ShiftIndices(first_index);
  };
  std::visit(
      [&shift](auto& groups) {
        if constexpr (requires { groups.begin(); }) shift(groups);
      },
      result.states);
}

}  // namespace gridfold::kernels
