// Exact quantiles, and elements by their rank, of an array or of each of its groups.
//
//   const auto plan = PlanQuantiles(array, {.quantiles = {0.5, 0.99}});
//
// A plan holds no data and may be used by any engine, from any thread, any number of times. What a
// quantile is, numerics/order/quantile.h says; both engines answer the same bits.
#ifndef GRIDFOLD_KERNELS_CONTRACT_QUANTILES_H_
#define GRIDFOLD_KERNELS_CONTRACT_QUANTILES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/numerics/order/quantile.h"
#include "kernels/types/policies.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

// Quantiles and ranks of a plan, together.
inline constexpr size_t kQuantilesMax = 256;

struct QuantileSpec {
  std::vector<double> quantiles = {};  // Each from 0 to 1.
  std::vector<uint64_t> ranks = {};    // 0 stands for the smallest element.
  QuantileMethod method = QuantileMethod::kLinear;
  GroupingSpec grouping = {};
  // kPropagate: a NaN makes all values of its group NaN. kIgnore: it is left out; values of a group
  // without numbers, or of a rank past them, are NaN.
  NanPolicy nan_policy = NanPolicy::kPropagate;
};

struct QuantilePlan {
  ArrayDescription array;
  std::vector<QuantileTarget> targets;  // The quantiles, then the ranks.
  size_t quantile_count = 0;
  QuantileMethod method = QuantileMethod::kLinear;
  Grouping grouping;
  NanPolicy nan_policy = NanPolicy::kPropagate;

  // Slots of 8 bytes that the answer takes.
  uint64_t result_slot_count() const { return targets.size() * grouping.group_count; }
};

// Errors (INVALID_ARGUMENT, field in the payload): those of PlanGrouping; neither quantiles nor
// ranks; more than kQuantilesMax; a quantile that is not from 0 to 1; an empty group; a rank that
// some group does not reach. INTERNAL for columns, which are to be made rows (axes.h,
// PlanContiguousAxes).
absl::StatusOr<QuantilePlan> PlanQuantiles(const ArrayDescription& array, QuantileSpec spec);

// How a target's slots are to be read.
ValueKind KindOfTarget(const QuantilePlan& plan, size_t target);

struct QuantileResult {
  // Of target t and group g at t * group_count + g.
  std::vector<uint64_t> slots;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_QUANTILES_H_
