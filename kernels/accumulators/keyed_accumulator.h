// Accumulators of reductions by key. Of a range of keys, or of bins, they are those of a reduction
// with these groups one behind the other, those without elements too: a group of nothing takes one
// byte. Of found keys they have the keys as well, and only groups that have elements. Thread-safe:
// no state.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_ACCUMULATOR_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_ACCUMULATOR_H_

#include <cstdint>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/contract/keyed_reduction.h"

namespace gridfold::kernels {

struct KeyedPart {
  KeyedAnswer answer;  // A column has no slots where some group with elements has no value.
  std::string accumulator;
};

// A plan for the states of `plan`, as PlanStates makes it.
KeyedReductionPlan PlanStates(KeyedReductionPlan plan);

// Of what an engine returned for PlanStates(plan). `key_count_max` is how many keys may be found by
// the request, 0 where it does not say. Errors: those of MakeReductionPart.
absl::StatusOr<KeyedPart> MakeKeyedPart(const KeyedReductionPlan& plan, uint64_t key_count_max,
                                        KeyedReductionResult result, const std::stop_token& stop);

// An accumulator with room for groups of the plan: what stands before them. `keys` are those that
// were found, in order; they are not looked at where there are bins.
AccumulatorWriter OpenKeyedAccumulator(const KeyedReductionPlan& plan, uint64_t key_count_max,
                                       const std::vector<uint64_t>& keys);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_ACCUMULATOR_H_
