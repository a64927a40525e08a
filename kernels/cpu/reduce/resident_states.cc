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

// States that a thread merges at a time: some hundred microseconds.
constexpr uint64_t kMergedStates = 2048;

// Calls f(S{}) with the compute type of the plan's elements.
template <class F>
auto VisitComputeType(const ReductionPlan& plan, F f) {
  return VisitElementType(plan.array.element_type,
                          [&](auto tag) { return f(ComputeType<typename decltype(tag)::type>{}); });
}

// A state of a part, with the indices of the whole group.
template <class S>
FullState<S> StateOfPart(const std::byte* states, uint64_t i, uint64_t first_index) {
  static_assert(std::is_trivially_copyable_v<FullState<S>>);
  FullState<S> state;
  std::memcpy(static_cast<void*>(&state), states + i * sizeof(state), sizeof(state));
  state.template Part<kExtremesPart>().ShiftIndices(first_index);
  return state;
}

// The answer of groups whose states have `parts` parts each, which merge.template operator()<S>(g)
// merges.
template <class Merge>
absl::StatusOr<ReductionResult> MergedGroups(const ReductionPlan& plan, uint64_t parts,
                                             JobContext& job, Merge merge) {
  const uint64_t count = plan.grouping.group_count;
  const uint64_t at_a_time = std::max<uint64_t>(1, kMergedStates / parts);
  StatisticWriter writer(plan);
  const absl::Status status = VisitComputeType(plan, [&](auto s) {
    using S = decltype(s);
    return job.ForEach((count + at_a_time - 1) / at_a_time, [&](uint64_t i) {
      const uint64_t end = std::min(count, (i + 1) * at_a_time);
      for (uint64_t group = i * at_a_time; group < end; ++group) {
        writer.Write(group, plan.grouping.group_size, merge.template operator()<S>(group),
                     ScaledProduct());
      }
    });
  });
  if (!status.ok()) return status;
  return std::move(writer).Finish();
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
  return MergedGroups(plan, parts.size(), job, [&]<class S>(uint64_t group) {
    FullState<S> state;
    for (const ResidentStates& part : parts) {
      state.Merge(StateOfPart<S>(part.states.data, first_state + group, part.first_index));
    }
    return state;
  });
}

absl::StatusOr<ReductionResult> MergeStateGridOnCpu(const ReductionPlan& plan,
                                                    const StateGrid& grid,
                                                    MutableResidentSpan states, JobContext& job) {
  return MergedGroups(plan, grid.parts, job, [&]<class S>(uint64_t group) {
    FullState<S> state;
    for (uint64_t part = 0; part < grid.parts; ++part) {
      const uint64_t i = (group / grid.inner * grid.parts + part) * grid.inner + group % grid.inner;
      state.Merge(StateOfPart<S>(states.data, i, part * grid.part_size));
    }
    return state;
  });
}

}  // namespace gridfold::kernels::cpu
