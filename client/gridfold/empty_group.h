// What the statistics of groups are that have none: of too few elements, or of nothing but NaNs
// that are ignored.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_EMPTY_GROUP_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_EMPTY_GROUP_H_

#include <cstdint>
#include <variant>

namespace gridfold::client {

// One number or truth value, in whichever kind holds it.
using Scalar = std::variant<int64_t, uint64_t, double, bool>;

// The numbers are those of the wire.
enum class EmptyGroupPolicy {
  kError = 1,  // The call fails, but for groups of nothing but ignored NaNs, which are NaN.
  kNan = 2,    // Values that are float64 are NaN; those of other types are an error all the same.
  kNull = 3,   // There is no value: ReductionResult::Entry::has_value.
  kValue = 4,  // EmptyGroup::value.
};

struct EmptyGroup {
  EmptyGroupPolicy policy = EmptyGroupPolicy::kError;
  Scalar value = int64_t{0};  // With kValue: it must fit each statistic that may need it.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_EMPTY_GROUP_H_
