// From the states of a reduction's groups, complete at last, to its answer and its accumulator. For
// reduction_*.cc, here and in folds/, and for sums by key (cuda/lane/keyed_sums.cc).
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_FINISH_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_FINISH_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/state.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/statistic_error.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {

// The first of the plan's statistics that needs other parts of a state than `parts`.
inline std::optional<size_t> FindStatisticBeyond(const ReductionPlan& plan, uint32_t parts) {
  for (size_t i = 0; i < plan.statistics.size(); ++i) {
    const uint32_t needed = PartsOf(plan.statistics[i], IsFloatingPoint(plan.array.element_type),
                                    plan.nan_policy == NanPolicy::kIgnore);
    if ((needed & ~parts) != 0) return i;
  }
  return std::nullopt;
}

// What stands before the groups of an accumulator.
inline void WriteReductionHeader(const ReductionPlan& plan, AccumulatorWriter& writer) {
  writer.Byte(static_cast<uint8_t>(plan.array.element_type));
  writer.Byte(static_cast<uint8_t>(plan.nan_policy));
  writer.Byte(static_cast<uint8_t>(plan.overflow_policy));
  writer.Integer(plan.delta_degrees_of_freedom);
  writer.Byte(static_cast<uint8_t>(plan.statistics.size()));
  for (const Statistic statistic : plan.statistics) writer.Byte(static_cast<uint8_t>(statistic));
  writer.Integer(plan.grouping.group_count);
}

// The next group of an accumulator.
template <class S>
void WriteGroup(uint32_t parts, uint64_t element_count, const FullState<S>& state,
                AccumulatorWriter& writer) {
  writer.Integer(element_count);
  if (element_count > 0) WriteParts(writer, parts, state);
}

// What groups belong to, which says what becomes of a group that has no value of a statistic.
enum class AnswerOf : uint8_t {
  kArray,         // An error that names the statistic.
  kPart,          // The statistic is left without values; an overflow is an error.
  kMerge,         // An error that names `accumulators`.
  kRemainder,     // An error that names `minuend`.
  kPartialMerge,  // The statistic is left without values.
};

// What statistics of groups are that have no more elements than the degrees of freedom.
enum class SmallGroups : uint8_t { kHaveNoValue, kAreNan };

// The values of groups, which come one after the other.
class ValueCollector {
 public:
  // `plan` must outlive the collector. Has room for the groups that the plan has now.
  ValueCollector(const ReductionPlan& plan, AnswerOf answer,
                 SmallGroups small_groups = SmallGroups::kHaveNoValue)
      : plan_(plan),
        answer_(answer),
        small_groups_(small_groups),
        rules_{.ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
               .wrap = plan.overflow_policy == OverflowPolicy::kWrap,
               .delta_degrees_of_freedom = plan.delta_degrees_of_freedom},
        missing_(plan.statistics.size()),
        result_(MakeReductionResult(plan)) {}

  // Makes room for more groups.
  void Resize(uint64_t group_count) {
    for (StatisticColumn& column : result_.columns) column.slots.resize(group_count);
  }

  template <class S>
  absl::Status Add(uint64_t group, uint64_t element_count, const FullState<S>& state) {
    for (size_t i = 0; i < plan_.statistics.size(); ++i) {
      absl::Status status = AddValue(i, group, element_count, state);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Takes the values of consecutive groups that an engine has finished.
  void Add(uint64_t first_group, const ReductionResult& values) {
    for (size_t i = 0; i < values.columns.size(); ++i) {
      const std::vector<uint64_t>& slots = values.columns[i].slots;
      std::copy(slots.begin(), slots.end(),
                result_.columns[i].slots.begin() + static_cast<ptrdiff_t>(first_group));
    }
  }

  ReductionResult Finish() && {
    for (size_t i = 0; i < missing_.size(); ++i) {
      if (missing_[i]) result_.columns[i].slots.clear();
    }
    return std::move(result_);
  }

 private:
  // Columns of statistics that are missing keep their slots until the end.
  template <class S>
  absl::Status AddValue(size_t i, uint64_t group, uint64_t element_count,
                        const FullState<S>& state) {
    const Statistic statistic = plan_.statistics[i];
    const std::optional<GroupSizeProblem> problem =
        FindGroupSizeProblem(statistic, plan_.delta_degrees_of_freedom, group, element_count);
    if (problem && small_groups_ == SmallGroups::kHaveNoValue) {
      return NoValue(i, GroupSizeError(i, *problem), problem->description);
    }
    const ValueOutcome outcome =
        StatisticValue(statistic, state, element_count, rules_, &result_.columns[i].slots[group]);
    if (outcome == ValueOutcome::kOk) return absl::OkStatus();
    const absl::Status error = StatisticError(plan_, i, group, outcome);
    if (outcome == ValueOutcome::kOverflow && answer_ != AnswerOf::kPartialMerge) return error;
    return NoValue(i, error, error.message());
  }

  absl::Status NoValue(size_t i, const absl::Status& error, absl::string_view description) {
    if (answer_ == AnswerOf::kArray) return error;
    if (answer_ == AnswerOf::kMerge) return InvalidField("accumulators", description);
    if (answer_ == AnswerOf::kRemainder) return InvalidField("minuend", description);
    missing_[i] = true;
    return absl::OkStatus();
  }

  const ReductionPlan& plan_;
  const AnswerOf answer_;
  const SmallGroups small_groups_;
  const ValueRules rules_;
  std::vector<bool> missing_;
  ReductionResult result_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_FINISH_H_
