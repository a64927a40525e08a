// From the device's states to those that engines hand out.
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/cuda/reduce/reduce.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

namespace {

// Calls f(T{}, PartSet<P>{}) with the element type and set of parts that kernels have.
template <class F>
auto VisitState(const ReductionPlan& plan, uint32_t parts, F f) {
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return VisitPartSet<T>(parts, [&](auto set) { return f(tag, set); });
  });
}

}  // namespace

uint64_t ReductionStateBytes(const ReductionPlan& plan, uint32_t parts) {
  return VisitState(plan, parts, [](auto tag, auto set) -> uint64_t {
    return sizeof(ReductionState<typename decltype(tag)::type, decltype(set)::value>);
  });
}

ReductionStates StatesOf(const ReductionPlan& plan, uint32_t parts, const std::byte* states) {
  return VisitState(plan, parts, [&](auto tag, auto set) -> ReductionStates {
    using T = typename decltype(tag)::type;
    using State = ReductionState<T, decltype(set)::value>;
    static_assert(std::is_trivially_copyable_v<State>);
    GroupStates<ComputeType<T>> groups(plan.grouping.group_count);
    State state;
    for (size_t g = 0; g < groups.size(); ++g) {
      std::memcpy(static_cast<void*>(&state), states + g * sizeof(State), sizeof(State));
      state.AssignTo(groups[g]);
    }
    return groups;
  });
}

}  // namespace gridfold::kernels::cuda
