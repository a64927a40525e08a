#include "kernels/cpu/reduce/resident_states.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "kernels/cpu/reduce/statistic_writer.h"
#include "kernels/numerics/arithmetic/scaled_product.h"

namespace gridfold::kernels::cpu {

namespace {

// Groups that a thread merges at a time: some hundred microseconds.
constexpr uint64_t kMergedGroups = 1024;

// Calls f(S{}) with the compute type of the plan's elements.
template <class F>
auto VisitComputeType(const ReductionPlan& plan, F f) {
  return VisitElementType(plan.array.element_type,
                          [&](auto tag) { return f(ComputeType<typename decltype(tag)::type>{}); });
}

// A group's state of a part, with the indices of the whole.
template <class S>
FullState<S> StateOfPart(const ResidentStates& part, uint64_t group) {
  static_assert(std::is_trivially_copyable_v<FullState<S>>);
  FullState<S> state;
  std::memcpy(static_cast<void*>(&state), part.states.data + group * sizeof(state), sizeof(state));
  state.template Part<kExtremesPart>().ShiftIndices(part.first_index);
  return state;
}

template <class S>
FullState<S> MergedState(std::span<const ResidentStates> parts, uint64_t group) {
  FullState<S> state = StateOfPart<S>(parts.front(), group);
  for (const ResidentStates& part : parts.subspan(1)) state.Merge(StateOfPart<S>(part, group));
  return state;
}

}  // namespace

uint64_t StateBytesOnCpu(const ReductionPlan& plan) {
  return VisitComputeType(plan, [](auto s) -> uint64_t { return sizeof(FullState<decltype(s)>); });
}

void KeepStatesOnCpu(const ReductionStates& states, MutableResidentSpan to) {
  std::visit(
      [&to](const auto& groups) {
        if constexpr (requires { groups.data(); }) {
          if (groups.empty()) return;
          std::memcpy(to.data, static_cast<const void*>(groups.data()),
                      groups.size() * sizeof(groups.front()));
        }
      },
      states);
}

absl::StatusOr<ReductionResult> MergeStatesOnCpu(const ReductionPlan& plan, uint64_t first_state,
                                                 std::span<const ResidentStates> parts,
                                                 JobContext& job) {
  const uint64_t count = plan.grouping.group_count;
  StatisticWriter writer(plan);
  const absl::Status status = VisitComputeType(plan, [&](auto s) {
    using S = decltype(s);
    return job.ForEach((count + kMergedGroups - 1) / kMergedGroups, [&](uint64_t i) {
      const uint64_t end = std::min(count, (i + 1) * kMergedGroups);
      for (uint64_t group = i * kMergedGroups; group < end; ++group) {
        writer.Write(group, plan.grouping.group_size, MergedState<S>(parts, first_state + group),
                     ScaledProduct());
      }
    });
  });
  if (!status.ok()) return status;
  return std::move(writer).Finish();
}

}  // namespace gridfold::kernels::cpu
