// What a reduction must answer, by brute force and exact arithmetic.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_REDUCTION_ORACLE_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_REDUCTION_ORACLE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/conformance/group_facts.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels::conformance {

// The value that a statistic must have: these bits, or any NaN; or the error that it must give.
struct ExpectedValue {
  enum class Kind { kBits, kNan, kOverflow, kNothing } kind = Kind::kBits;
  uint64_t bits = 0;
};

ExpectedValue ExpectStatistic(Statistic statistic, ElementType type, const GroupFacts& facts,
                              const ReductionSpec& spec);

// Expects `result` to be the answer to `spec`, or the error that the elements call for.
void CheckReduction(const TestArray& array, const ReductionSpec& spec,
                    const absl::StatusOr<ReductionResult>& result);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_REDUCTION_ORACLE_H_
