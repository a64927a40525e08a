// Accumulators of reductions: the states of all groups, as bytes that any server can merge.
//
// Merging is associative and commutative, bit for bit. Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_ACCUMULATOR_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_ACCUMULATOR_H_

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

struct ReductionMerge {
  // In a partial merge, a column has no slots where some group has no value.
  ReductionResult result;
  std::string accumulator;
  uint64_t element_count = 0;  // Of all groups; the largest uint64_t where there are more.
};

// A plan for the states of `plan`: with return_states, and with statistics that need the same parts
// and have a value for every group, however few its elements.
ReductionPlan PlanStates(ReductionPlan plan);

// The accumulator for `plan`, of what an engine returned for PlanStates(plan). Errors: INTERNAL
// where it returned no states, or not one for each group.
absl::StatusOr<std::string> MakeReductionAccumulator(const ReductionPlan& plan,
                                                     const ReductionStates& states);

// The accumulator of the array, as above, and the answer for the part that the array is, which is
// the answer of a partial merge. Further errors: CANCELLED.
absl::StatusOr<ReductionMerge> MakeReductionPart(const ReductionPlan& plan,
                                                 const ReductionStates& states,
                                                 const std::stop_token& stop);

// The most bytes that an accumulator of `plan`, or the states that it is made of, can take.
uint64_t ReductionAccumulatorBytesMax(const ReductionPlan& plan);

// The plan that the accumulator with this body answers, with groups of no elements. Errors:
// INVALID_ARGUMENT, without a field: bytes that do not follow the format; more groups than
// `group_count_max` or than the bytes can hold.
absl::StatusOr<ReductionPlan> PlanOfReductionBody(absl::string_view body, uint64_t group_count_max);

// INVALID_ARGUMENT that says in what `body` differs from `first`, where they cannot be merged. Both
// are bodies of reductions; PlanOfReductionBody accepts the first.
absl::Status CheckReductionBodiesAgree(absl::string_view first, absl::string_view body);

// INVALID_ARGUMENT, without a field, that names a statistic whose states cannot be taken out of
// others. `plan` is that of a body.
absl::Status CheckCanBeSubtracted(const ReductionPlan& plan);

// Folds accumulators with these bodies, all of the same header as the first, which `plan` was made
// of; a subtraction requires CheckCanBeSubtracted. Takes memory in proportion to the bodies and the
// plan's result, time in proportion to the bodies. Errors: INVALID_ARGUMENT as AccumulatorError
// gives it, for bytes that do not follow the format or for more than kAccumulatedElementsMax
// elements; that names `subtrahends`, where what is taken out was not in the minuend, or cannot be
// told from it (state_difference.h); unless the fold is partial, those of a reduction of the whole
// array: a group that is too small for a statistic (INVALID_ARGUMENT, "accumulators" or "minuend"),
// OUT_OF_RANGE. CANCELLED.
absl::StatusOr<ReductionMerge> FoldReductions(Combination combination, const ReductionPlan& plan,
                                              std::span<const absl::string_view> bodies,
                                              bool partial, const std::stop_token& stop);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_ACCUMULATOR_H_
