#include "kernels/accumulators/keyed_accumulator.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/accumulators/reduction_accumulator.h"

namespace gridfold::kernels {

namespace {

// The states of all groups: of those without elements, which accumulators do not hold, any.
ReductionStates SpreadStates(uint64_t group_count, const std::vector<uint64_t>& groups,
                             const ReductionStates& states) {
  return std::visit(
      [&](const auto& of_occurring) -> ReductionStates {
        auto spread = of_occurring;
        if constexpr (requires { spread.resize(group_count); }) {
          spread.clear();
          spread.resize(group_count);
          for (uint64_t i = 0; i < groups.size(); ++i) spread[groups[i]] = of_occurring[i];
        }
        return spread;
      },
      states);
}

}  // namespace

KeyedReductionPlan PlanStates(KeyedReductionPlan plan) {
  plan.reduction = PlanStates(std::move(plan.reduction));
  return plan;
}

absl::StatusOr<KeyedPart> MakeKeyedPart(const KeyedReductionPlan& plan, KeyedReductionResult result,
                                        const std::stop_token& stop) {
  const ReductionPlan occurring = PlanOfGroups(plan, result.offsets);
  absl::StatusOr<ReductionMerge> part = MakeReductionPart(occurring, result.reduction.states, stop);
  if (!part.ok()) return part.status();
  const ReductionStates states =
      SpreadStates(plan.group_count_max, result.groups, result.reduction.states);
  result.reduction = std::move(part->result);
  KeyedPart made{.answer = SpreadGroups(plan, std::move(result)), .accumulator = {}};
  std::vector<uint64_t> offsets = {0};
  for (const uint64_t count : made.answer.counts) offsets.push_back(offsets.back() + count);
  absl::StatusOr<std::string> accumulator =
      MakeReductionAccumulator(PlanOfGroups(plan, std::move(offsets)), states);
  if (!accumulator.ok()) return accumulator.status();
  made.accumulator = *std::move(accumulator);
  return made;
}

}  // namespace gridfold::kernels
