// Reductions: one or several statistics of an array, or of each of its groups, in one pass.
//
// PlanReduction checks a ReductionSpec against an array's description and returns a plan, which
// holds no data and may be used by any engine, from any thread, any number of times.
#ifndef GRIDFOLD_KERNELS_CONTRACT_REDUCTION_H_
#define GRIDFOLD_KERNELS_CONTRACT_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/reduction_states.h"
#include "kernels/types/element_type.h"
#include "kernels/types/policies.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

struct ReductionSpec {
  std::vector<Statistic> statistics;  // At least one, none twice.
  GroupingSpec grouping;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;
  uint32_t delta_degrees_of_freedom = 0;
  // The array is a part of a whole: the result holds the groups' states, and groups may be smaller
  // than a statistic needs.
  bool return_states = false;
  std::string strategy{};  // Which is to run it (strategy_error.h); empty: the engine's choice.
  // Floating-point type of the answer's values of ValueKind::kDouble; nothing: float64.
  std::optional<ElementType> output_type = std::nullopt;
};

struct ReductionPlan {
  ArrayDescription array;
  std::vector<Statistic> statistics;
  Grouping grouping;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;
  uint32_t delta_degrees_of_freedom = 0;
  bool return_states = false;  // Whether the result holds the groups' states.
  uint64_t first_group = 0;    // The number of its first group, where it is a part of a whole.
  std::string strategy{};      // Which is to run it; empty: the engine's choice.
  // What the answer's values of ValueKind::kDouble are rounded to. Engines hand out float64 all the
  // same, so that merging and dealing know of one type only.
  ElementType output_type = ElementType::kFloat64;

  // Slots of 8 bytes that engines hand out.
  uint64_t result_slot_count() const { return statistics.size() * grouping.group_count; }
};

// Errors (INVALID_ARGUMENT, field in the payload): no statistics or one twice; a statistic that the
// element type does not have (bitwise on floating-point), or that has no state to return (product
// of floating-point); an output type that is not floating-point, or where no statistic has such
// values; an axis of an array that is not two-dimensional; offsets out of order, not starting at 0
// or not ending at the element count; where no states are asked for, a group that is too small for
// a statistic.
absl::StatusOr<ReductionPlan> PlanReduction(const ArrayDescription& array, ReductionSpec spec);

// Whether a product of floating-point elements is among the statistics: it rounds at every step, so
// engines compute it apart from the others.
bool HasFloatingProduct(const ReductionPlan& plan);

// The parts of a state that the plan's statistics need (numerics/statistics/reduction_state.h).
uint32_t PartsOf(const ReductionPlan& plan);

// Why a group of so many elements is too small for a statistic: it is empty where min, max, argmin,
// argmax, mean, variance or standard deviation is asked for, or has no more elements than
// delta_degrees_of_freedom. Nothing where it is large enough.
struct GroupSizeProblem {
  bool is_degrees_of_freedom = false;  // Else it is the statistic that asks for too much.
  std::string description;             // Names the statistic and the group.
};
std::optional<GroupSizeProblem> FindGroupSizeProblem(Statistic statistic,
                                                     uint32_t delta_degrees_of_freedom,
                                                     uint64_t group, uint64_t element_count);

// The error of that problem with the statistic of this index.
absl::Status GroupSizeError(size_t statistic_index, const GroupSizeProblem& problem);

// The error of the plan's smallest group, where it is too small for a statistic.
absl::Status CheckGroupSizes(const ReductionPlan& plan);

// Checks `spec` against the array and makes it a Grouping; shared with scans.
absl::StatusOr<Grouping> PlanGrouping(const ArrayDescription& array, GroupingSpec spec);

// Values of one statistic: 8 bytes for each group, to be read as `kind` says (a bool is 0 or 1).
struct StatisticColumn {
  Statistic statistic;
  ValueKind kind;
  std::vector<uint64_t> slots;
};

// One column for each statistic of the plan, in the plan's order.
struct ReductionResult {
  std::vector<StatisticColumn> columns;
  ReductionStates states{};  // Where the plan has return_states.
};

// Columns of the right kinds and sizes for `plan`, all slots 0.
ReductionResult MakeReductionResult(const ReductionPlan& plan);

// Shifts the indices in columns and states by `first_index`, where each group's elements begin in
// the whole of which the array is a part.
void ShiftIndices(uint64_t first_index, ReductionResult& result);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_REDUCTION_H_
