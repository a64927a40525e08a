// Writes the states of groups to a ReductionResult.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_STATISTIC_WRITER_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_STATISTIC_WRITER_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <variant>

#include "absl/status/status.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/statistic_error.h"
#include "kernels/cpu/reduce/kernels.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cpu {

// Different groups may be written from different threads at once.
class StatisticWriter {
 public:
  // `plan` must outlive the writer.
  explicit StatisticWriter(const ReductionPlan& plan)
      : plan_(plan),
        rules_{.ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
               .wrap = plan.overflow_policy == OverflowPolicy::kWrap,
               .delta_degrees_of_freedom = plan.delta_degrees_of_freedom},
        result_(MakeReductionResult(plan)) {
    if (plan.return_states) {
      VisitElementType(plan.array.element_type, [&](auto tag) {
        using S = ComputeType<typename decltype(tag)::type>;
        result_.states.template emplace<GroupStates<S>>(plan.grouping.group_count);
      });
    }
  }

  // What must be kept of elements of the plan's type.
  ReduceRequest Request() const {
    return {.parts = PartsOf(plan_),
            .ignore_nan = rules_.ignore_nan,
            .float_product = HasFloatingProduct(plan_)};
  }

  const ValueRules& rules() const { return rules_; }

  // Where the values of a statistic of the plan go, one for each group, for who has them without a
  // state. None of them may be at fault.
  uint64_t* Slots(size_t statistic_index) { return result_.columns[statistic_index].slots.data(); }

  // `product` is used for floating-point products only.
  template <class S>
  void Write(uint64_t group, uint64_t group_size, const GroupState<S>& state,
             const ScaledProduct& product) {
    if (plan_.return_states) std::get<GroupStates<S>>(result_.states)[group] = state;
    for (size_t i = 0; i < result_.columns.size(); ++i) {
      StatisticColumn& column = result_.columns[i];
      uint64_t& slot = column.slots[group];
      if (FloatingElement<S> && column.statistic == Statistic::kProduct) {
        slot = Slot(product.Rounded());
        continue;
      }
      const ValueOutcome outcome =
          StatisticValue(column.statistic, state, group_size, rules_, &slot);
      if (outcome != ValueOutcome::kOk) RecordFailure(group, i, outcome);
    }
  }

  // The result, or the error of the first group that has one. To be called last.
  absl::StatusOr<ReductionResult> Finish() && {
    const uint64_t failure = first_failure_.load();
    if (failure == kNoFailure) return std::move(result_);
    return StatisticError(plan_, failure / kOutcomes % kStatistics,
                          failure / kOutcomes / kStatistics,
                          static_cast<ValueOutcome>(failure % kOutcomes));
  }

 private:
  static constexpr uint64_t kNoFailure = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kStatistics = 32;
  static constexpr uint64_t kOutcomes = 4;
  static_assert(kStatisticCount <= kStatistics);

  // Packed so that the smallest is the first group's first statistic.
  void RecordFailure(uint64_t group, size_t statistic_index, ValueOutcome outcome) {
    const uint64_t failure =
        (group * kStatistics + statistic_index) * kOutcomes + static_cast<uint64_t>(outcome);
    uint64_t first = first_failure_.load();
    while (failure < first && !first_failure_.compare_exchange_weak(first, failure)) {
    }
  }

  const ReductionPlan& plan_;
  const ValueRules rules_;
  ReductionResult result_;
  std::atomic<uint64_t> first_failure_ = kNoFailure;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_STATISTIC_WRITER_H_
