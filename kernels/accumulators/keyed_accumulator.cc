#include "kernels/accumulators/keyed_accumulator.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/accumulators/keyed_groups.h"
#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/accumulators/reduction_finish.h"

namespace gridfold::kernels {

namespace {

// The plan of all groups of an accumulator.
ReductionPlan PlanOfAllGroups(const KeyedReductionPlan& plan, uint64_t occurring) {
  ReductionPlan groups = plan.reduction;
  groups.grouping = {.kind = GroupingKind::kAxis1,
                     .group_count = plan.has_bins() ? plan.group_count_max : occurring,
                     .offsets = {}};
  return groups;
}

}  // namespace

KeyedReductionPlan PlanStates(KeyedReductionPlan plan) {
  plan.reduction = PlanStates(std::move(plan.reduction));
  return plan;
}

AccumulatorWriter OpenKeyedAccumulator(const KeyedReductionPlan& plan, uint64_t key_count_max,
                                       const std::vector<uint64_t>& keys) {
  AccumulatorWriter writer(plan.has_bins() ? AccumulatorKind::kReduction
                                           : AccumulatorKind::kKeyedReduction);
  WriteReductionHeader(PlanOfAllGroups(plan, keys.size()), writer);
  if (plan.has_bins()) return writer;
  writer.Byte(static_cast<uint8_t>(plan.keys.element_type));
  writer.Integer(key_count_max);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i == 0) {
      writer.Fixed(keys[i], sizeof(uint64_t));
    } else {
      writer.Integer(keys[i] - keys[i - 1]);
    }
  }
  return writer;
}

absl::StatusOr<KeyedPart> MakeKeyedPart(const KeyedReductionPlan& plan, uint64_t key_count_max,
                                        KeyedReductionResult result, const std::stop_token& stop) {
  const ReductionPlan occurring = PlanOfGroups(plan, result.offsets);
  absl::StatusOr<ReductionMerge> part = MakeReductionPart(occurring, result.reduction.states, stop);
  if (!part.ok()) return part.status();
  std::string accumulator = std::visit(
      [&](const auto& states) {
        KeyedGroupWriter writer(plan, key_count_max, result.groups);
        if constexpr (requires { states.begin(); }) {
          for (uint64_t i = 0; i < result.groups.size(); ++i) {
            writer.Add(result.groups[i], result.offsets[i + 1] - result.offsets[i], states[i]);
          }
        }
        return std::move(writer).Finish();
      },
      result.reduction.states);
  result.reduction = std::move(part->result);
  return KeyedPart{.answer = SpreadGroups(plan, std::move(result)),
                   .accumulator = std::move(accumulator)};
}

}  // namespace gridfold::kernels
