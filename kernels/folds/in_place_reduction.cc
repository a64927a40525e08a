#include "kernels/folds/in_place_reduction.h"

#include "kernels/folds/fold_checks.h"

namespace gridfold::kernels {

namespace {

// Of the array, to one of states. States are written and read; the array in another order would be,
// too.
constexpr uint64_t kArrayBytesPerStateByte = 2;

Grouping GroupsOf(const GroupsInPlace& groups) {
  const bool are_columns = groups.grouping == GroupingKind::kAxis0;
  return {.kind = groups.grouping,
          .group_count = groups.states.state_count(),
          .group_size = groups.states.part_size,
          .offsets = {},
          .matrices = are_columns ? groups.array.matrices : 1};
}

}  // namespace

InPlaceReduction::InPlaceReduction(const ReductionPlan& plan, const GroupsInPlace& groups)
    : states_(groups.states), inner_(has_parts() ? PlanOfParts(plan) : plan), whole_(plan) {
  inner_.array = groups.array;
  inner_.grouping = GroupsOf(groups);
  // Engines keep of a group what they keep of its parts.
  whole_.grouping.kind = groups.grouping;
}

std::optional<uint64_t> InPlaceReduction::RoomBytes(const ResidentSpan& input,
                                                    const Lane& lane) const {
  const bool may_be =
      whole_.strategy.empty() && !HasFloatingProduct(whole_) && lane.ReducesInPlace(inner_, input);
  if (!may_be) return std::nullopt;
  if (!has_parts()) return 0;
  const uint64_t room_bytes = lane.ResidentStateBytes(inner_) * states_.state_count();
  const bool is_worth_it = room_bytes > 0 && !whole_.return_states &&
                           room_bytes <= inner_.array.size_bytes() / kArrayBytesPerStateByte;
  return is_worth_it ? std::optional(room_bytes) : std::nullopt;
}

absl::StatusOr<ReductionResult> InPlaceReduction::Run(const ResidentSpan& input,
                                                      MutableResidentSpan room, Lane& lane,
                                                      const std::stop_token& stop,
                                                      RunStatistics& statistics) const {
  if (!has_parts()) return lane.RunReduction(inner_, input, stop, statistics);
  const absl::Status status = lane.ReduceInto(inner_, input, room, stop, statistics);
  if (!status.ok()) return status;
  RunStatistics merge;
  auto result = lane.MergeStateGrid(whole_, states_, room, stop, merge);
  merge.Add(statistics);  // Whose strategy it is.
  statistics = merge;
  return result;
}

}  // namespace gridfold::kernels
