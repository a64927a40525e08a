// Merging of accumulators of reductions by found keys: a key that several have is one group, whose
// states are merged. Associative and commutative, bit for bit. Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_MERGE_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_MERGE_H_

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/contract/keyed_reduction.h"

namespace gridfold::kernels {

// What accumulators that agree answer.
struct KeyedMergePlan {
  // Of found keys, and with return_states; its group_count_max is how many there may be of all
  // parts together.
  KeyedReductionPlan keyed;
  uint64_t key_count_max = 0;  // As the requests had it.
};

struct KeyedMerge {
  KeyedAnswer answer;  // In a partial merge, a column has no slots where some group has no value.
  std::string accumulator;
  uint64_t element_count = 0;  // Of all groups; the largest uint64_t where there are more.
};

// The plan that the accumulator with this body answers, with no elements. Errors: INVALID_ARGUMENT,
// without a field: bytes that do not follow the format; more groups than `group_count_max` or than
// the bytes can hold.
absl::StatusOr<KeyedMergePlan> PlanOfKeyedBody(absl::string_view body, uint64_t group_count_max);

// INVALID_ARGUMENT that says in what `body` differs from `first`, where they cannot be merged. Both
// are bodies of reductions by found keys; PlanOfKeyedBody accepts the first.
absl::Status CheckKeyedBodiesAgree(absl::string_view first, absl::string_view body);

// Folds accumulators with these bodies, which agree with the first, which `plan` was made of. Takes
// memory in proportion to the bodies and the answer, time in proportion to the bodies' groups and,
// for each, the logarithm of the number of bodies. Errors: those of FoldReductions, but that
// groups may be too small for a statistic as in a reduction by key; INVALID_ARGUMENT that names
// "accumulators" where they have more keys than plan.keyed.group_count_max.
absl::StatusOr<KeyedMerge> MergeKeyed(const KeyedMergePlan& plan,
                                      std::span<const absl::string_view> bodies, bool partial,
                                      const std::stop_token& stop);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_KEYED_MERGE_H_
