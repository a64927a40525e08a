#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "kernels/contract/lane_limits.h"
#include "kernels/contract/statistic_error.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/reduce/reduce.h"

namespace gridfold::kernels::cuda {

namespace {

// A kernel reads so much in a microsecond or two, which is what an event takes.
constexpr uint64_t kClockedBytesMax = 64 << 10;

// The error of the first group that has one, and of its first statistic; `failures` has an entry
// for each statistic.
absl::Status FirstFailure(const ReductionPlan& plan, std::span<const uint64_t> failures) {
  const auto first = std::min_element(failures.begin(), failures.end());
  if (first == failures.end() || *first == kNoFailure) return absl::OkStatus();
  const size_t index = static_cast<size_t>(first - failures.begin());
  return StatisticError(plan, index, *first, TraitsOf(plan.statistics[index]).failure);
}

MutableHostSpan SpanOf(uint64_t* values, size_t count) {
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values, count));
  return {bytes.data(), bytes.size()};
}

uint64_t SlotBytes(const ReductionPlan& plan) {
  const uint64_t failure_words = ReductionCanFail(plan) ? plan.statistics.size() : 0;
  return (plan.result_slot_count() + failure_words) * sizeof(uint64_t);
}

// Slots and failures, one behind the other.
ReductionOutput OutputAt(const ReductionPlan& plan, std::byte* place, void* states) {
  uint64_t* const slots = reinterpret_cast<uint64_t*>(place);
  return {slots, slots + plan.result_slot_count(), states};
}

}  // namespace

absl::StatusOr<ReductionRoute> CudaLane::EnqueueReduction(
    const ReductionPlan& plan, const InputSpan& input,
    absl::FunctionRef<ReductionOutput(const ReductionRoute&)> output_of,
    const std::stop_token& stop, RunStatistics& statistics) {
  statistics.bytes_read = ReductionBytesRead(plan);
  if (plan.array.size_bytes() <= kClockedBytesMax) timer_.UseClock();
  const absl::StatusOr<const std::byte*> elements =
      StageIn(input, plan.grouping, memory_.input.size_bytes(), stop);
  if (!elements.ok()) return elements.status();
  absl::StatusOr<ReductionRoute> route =
      PlanReductionRoute({plan, properties_, IsVectorAddress(*elements)});
  if (!route.ok()) return route.status();
  statistics.strategy = route->strategy();
  const ReductionInput device_input{{*elements, plan.array.element_count},
                                    reinterpret_cast<const uint64_t*>(memory_.offsets.data())};
  const ReductionOutput output = output_of(*route);
  if (output.states != nullptr) {
    // Kernels leave out what lies between the parts of a state, and all of it is copied.
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(
        output.states, 0, plan.grouping.group_count * ReductionStateBytes(plan, route->parts),
        stream_.get()));
  }
  Scratch scratch = NewScratch();
  absl::Status status =
      LaunchReduction(plan, *route, device_input, output, scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;
  return route;
}

// States, slots and failures stand one behind the other, so that one copy brings all. States come
// first, since they are aligned to two words: with no gap nothing is copied that is not written.
absl::Status CudaLane::Reduce(const ReductionPlan& plan, const InputSpan& input,
                              const std::stop_token& stop, RunStatistics& statistics,
                              ReductionResult& result) {
  uint64_t state_bytes = 0;
  std::byte* answer = nullptr;
  const auto output_of = [&](const ReductionRoute& route) {
    if (plan.return_states) {
      state_bytes = plan.grouping.group_count * ReductionStateBytes(plan, route.parts);
    }
    answer = AnswerPlace(state_bytes + SlotBytes(plan));
    return OutputAt(plan, answer + state_bytes, plan.return_states ? answer : nullptr);
  };
  const absl::StatusOr<ReductionRoute> route =
      EnqueueReduction(plan, input, output_of, stop, statistics);
  if (!route.ok()) return route.status();
  std::vector<std::byte> states(state_bytes);
  absl::Status status = CopyAnswer(plan, answer, {states.data(), states.size()}, stop, result);
  if (plan.return_states) result.states = StatesOf(plan, route->parts, states.data());
  return status;
}

absl::Status CudaLane::CopyAnswer(const ReductionPlan& plan, const std::byte* answer,
                                  MutableHostSpan states, const std::stop_token& stop,
                                  ReductionResult& result) {
  std::array<uint64_t, kStatisticCount> failures;
  const uint64_t failure_words = ReductionCanFail(plan) ? plan.statistics.size() : 0;
  std::vector<MutableHostSpan> spans = {states};
  for (StatisticColumn& column : result.columns) {
    spans.push_back(SpanOf(column.slots.data(), column.slots.size()));
  }
  spans.push_back(SpanOf(failures.data(), failure_words));
  if (absl::Status status = CopyOut(answer, spans, stop); !status.ok()) return status;
  return FirstFailure(plan, std::span(failures).first(failure_words));
}

uint64_t CudaLane::ResidentStateBytes(const ReductionPlan& plan) const {
  return ReductionStateBytes(plan, ReductionParts(plan));
}

absl::Status CudaLane::ReduceInto(const ReductionPlan& plan, InputSpan input,
                                  MutableResidentSpan states, std::stop_token stop,
                                  RunStatistics& statistics) {
  if (absl::Status status = CheckReduceIntoFits(options_, plan, input); !status.ok()) return status;
  return Run(statistics, [&] {
    const auto output_of = [&](const ReductionRoute&) {
      return OutputAt(plan, AnswerPlace(SlotBytes(plan)), states.data);
    };
    return EnqueueReduction(plan, input, output_of, stop, statistics).status();
  });
}

absl::StatusOr<ReductionResult> CudaLane::MergeStates(const ReductionPlan& plan,
                                                      uint64_t first_state,
                                                      std::span<const ResidentStates> parts,
                                                      std::stop_token stop) {
  if (absl::Status status = CheckGroupsFit(options_, plan); !status.ok()) return status;
  ReductionResult result = MakeReductionResult(plan);
  RunStatistics unused;
  const absl::Status status =
      Run(unused, [&] { return Merge(plan, first_state, parts, stop, result); });
  if (!status.ok()) return status;
  return result;
}

// What another device has is brought piece by piece to the lane's scratch first: directly where
// devices reach each other, else by the driver, through the host.
absl::Status CudaLane::Merge(const ReductionPlan& plan, uint64_t first_state,
                             std::span<const ResidentStates> parts, const std::stop_token& stop,
                             ReductionResult& result) {
  const uint64_t state_bytes = ResidentStateBytes(plan);
  const uint64_t piece_groups = memory_.scratch.size_bytes() / state_bytes;
  std::byte* const place = memory_.scratch.data();
  std::byte* const answer = AnswerPlace(SlotBytes(plan));
  const ReductionOutput output = OutputAt(plan, answer, nullptr);
  const ResidentStates& own = parts.front();
  absl::Status status = ClearFailures(plan, output, stream_.get());
  if (!status.ok()) return status;
  for (uint64_t first = 0; first < plan.grouping.group_count; first += piece_groups) {
    const uint64_t count = std::min(piece_groups, plan.grouping.group_count - first);
    const uint64_t offset = (first_state + first) * state_bytes;
    StateMergeWork work{.states = own.states.data + offset,
                        .first_index = own.first_index,
                        .others = nullptr,
                        .others_first_index = 0,
                        .first_group = first,
                        .count = count,
                        .is_last = parts.size() == 1};
    if (work.is_last) status = LaunchStateMerge(plan, work, output, properties_, stream_.get());
    for (size_t part = 1; part < parts.size() && status.ok(); ++part) {
      if (status = CheckStop(stop); !status.ok()) break;
      GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(place, parts[part].states.data + offset,
                                                    count * state_bytes, cudaMemcpyDefault,
                                                    stream_.get()));
      work.others = place;
      work.others_first_index = parts[part].first_index;
      work.is_last = part + 1 == parts.size();
      status = LaunchStateMerge(plan, work, output, properties_, stream_.get());
      work.first_index = 0;  // Those that were merged are the whole's.
    }
    if (!status.ok()) return status;
  }
  return CopyAnswer(plan, answer, {}, stop, result);
}

}  // namespace gridfold::kernels::cuda
