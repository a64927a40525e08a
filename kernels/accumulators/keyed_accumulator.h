// Accumulators of reductions by key: of a range of keys, or of bins, all groups one behind the
// other, those without elements too, as an accumulator of a reduction has them. A group of nothing
// takes one byte. Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_ACCUMULATOR_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_ACCUMULATOR_H_

#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/contract/keyed_reduction.h"

namespace gridfold::kernels {

struct KeyedPart {
  KeyedAnswer answer;  // A column has no slots where some group with elements has no value.
  std::string accumulator;
};

// A plan for the states of `plan`, as PlanStates makes it.
KeyedReductionPlan PlanStates(KeyedReductionPlan plan);

// Of what an engine returned for PlanStates(plan). Requires bins or a range. Errors: those of
// MakeReductionPart.
absl::StatusOr<KeyedPart> MakeKeyedPart(const KeyedReductionPlan& plan, KeyedReductionResult result,
                                        const std::stop_token& stop);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_ACCUMULATOR_H_
