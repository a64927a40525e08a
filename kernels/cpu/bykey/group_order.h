// The order of elements by their groups.
#ifndef GRIDFOLD_KERNELS_CPU_BYKEY_GROUP_ORDER_H_
#define GRIDFOLD_KERNELS_CPU_BYKEY_GROUP_ORDER_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/bykey/buffer.h"
#include "kernels/cpu/bykey/key_numbers.h"

namespace gridfold::kernels::cpu {

struct GroupOrder {
  std::vector<uint64_t> groups;   // As KeyedReductionResult has them.
  std::vector<uint64_t> offsets;  // One more than groups: where each begins in the order.
  // Where each element of the order stands in the input; nothing where that is in order.
  std::variant<std::monostate, Buffer<uint32_t>, Buffer<uint64_t>> places;

  // The element of the input at a place of the order.
  uint64_t PlaceOf(uint64_t i) const;
};

// Elements of one group stay in the order of the input. Errors: more groups than
// plan.group_count_max; CANCELLED.
absl::StatusOr<GroupOrder> OrderByGroup(const KeyedReductionPlan& plan, KeyNumbers numbers,
                                        JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BYKEY_GROUP_ORDER_H_
