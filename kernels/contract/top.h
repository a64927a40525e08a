// The largest or smallest elements of an array, or of each of its groups, in order, and where they
// stand. Equal ones come in the order of their indices; numerics/order/order_key.h says where NaNs
// do.
//
//   const auto plan = PlanTop(array, {.count = 10, .smallest = true});
#ifndef GRIDFOLD_KERNELS_CONTRACT_TOP_H_
#define GRIDFOLD_KERNELS_CONTRACT_TOP_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/types/policies.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

struct TopSpec {
  uint64_t count = 0;  // Of each group.
  bool smallest = false;
  GroupingSpec grouping = {};
  // kPropagate: NaNs come before all numbers, in either direction. kIgnore: they are left out.
  NanPolicy nan_policy = NanPolicy::kPropagate;
};

struct TopPlan {
  ArrayDescription array;
  uint64_t count = 0;
  bool smallest = false;
  Grouping grouping;
  NanPolicy nan_policy = NanPolicy::kPropagate;

  uint64_t result_count() const { return count * grouping.group_count; }
  bool ignores_nan() const { return nan_policy == NanPolicy::kIgnore; }
};

// Bytes of an answer for each element that is selected: its value and its index.
inline constexpr uint64_t kTopResultBytes = 16;

// Errors (INVALID_ARGUMENT, field in the payload): those of PlanGrouping; an empty group; a count
// of 0, or of more elements than some group has; more results than 64 bits count. INTERNAL for
// columns, which are to be made rows (axes.h, PlanContiguousAxes).
absl::StatusOr<TopPlan> PlanTop(const ArrayDescription& array, TopSpec spec);

// Of group g, from g * count on.
struct TopResult {
  ValueKind kind = ValueKind::kInt64;
  std::vector<uint64_t> slots;
  std::vector<uint64_t> indices;
};

// Of the right sizes for `plan`.
TopResult MakeTopResult(const TopPlan& plan);

// INVALID_ARGUMENT: the group has fewer elements than are asked for that are not ignored NaNs.
absl::Status TooFewNumbers(const TopPlan& plan, uint64_t group);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_TOP_H_
