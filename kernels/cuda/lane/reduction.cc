#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "kernels/contract/lane_limits.h"
#include "kernels/contract/statistic_error.h"
#include "kernels/cuda/device/host_bytes.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/reduce/reduce.h"

namespace gridfold::kernels::cuda {

namespace {

// Whether the job's times are taken by the clock: a kernel reads so much in a microsecond or two,
// which is what an event takes. Not where the answer has to be copied, since the clock would take
// that too.
bool IsClocked(const ReductionPlan& plan, uint64_t direct_bytes) {
  constexpr uint64_t kBytesMax = 64 << 10;
  return plan.array.size_bytes() <= kBytesMax && !plan.return_states &&
         ReductionAnswerBytes(plan) <= direct_bytes;
}

// The error of the first group that has one, and of its first statistic; `failures` has an entry
// for each statistic.
absl::Status FirstFailure(const ReductionPlan& plan, std::span<const uint64_t> failures) {
  const auto first = std::min_element(failures.begin(), failures.end());
  if (first == failures.end() || *first == kNoFailure) return absl::OkStatus();
  const size_t index = static_cast<size_t>(first - failures.begin());
  return StatisticError(plan, index, *first, TraitsOf(plan.statistics[index]).failure);
}

}  // namespace

absl::StatusOr<ReductionInput> CudaLane::StageReductionInput(const ReductionPlan& plan,
                                                             const InputSpan& input,
                                                             const std::stop_token& stop) {
  const absl::StatusOr<const std::byte*> elements =
      StageIn(input, plan.grouping, memory_.input.size_bytes(), stop);
  if (!elements.ok()) return elements.status();
  return ReductionInput{{*elements, plan.array.element_count},
                        reinterpret_cast<const uint64_t*>(memory_.offsets.data())};
}

absl::StatusOr<ReductionRoute> CudaLane::EnqueueReduction(
    const ReductionPlan& plan, StageReduction stage,
    absl::FunctionRef<ReductionOutput(const ReductionRoute&)> output_of,
    RunStatistics& statistics) {
  statistics.bytes_read = ReductionBytesRead(plan);
  if (IsClocked(plan, direct_memory_.size_bytes())) timer_.UseClock();
  const absl::StatusOr<ReductionInput> input = stage();
  if (!input.ok()) return input.status();
  absl::StatusOr<ReductionRoute> route =
      PlanReductionRoute({plan, properties_, IsVectorAddress(input->elements.data)});
  if (!route.ok()) return route.status();
  statistics.strategy = route->strategy();
  const ReductionOutput output = output_of(*route);
  if (output.states != nullptr) {
    // Kernels leave out what lies between the parts of a state, and all of it is copied.
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(
        output.states, 0, plan.grouping.group_count * ReductionStateBytes(plan, route->parts),
        stream_.get()));
  }
  Scratch scratch = NewScratch();
  absl::Status status =
      LaunchReduction(plan, *route, *input, output, scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;
  return route;
}

// States, slots and failures stand one behind the other, so that one copy brings all. States come
// first, since they are aligned to two words: with no gap nothing is copied that is not written.
absl::Status CudaLane::Reduce(const ReductionPlan& plan, StageReduction stage,
                              const std::stop_token& stop, RunStatistics& statistics,
                              ReductionResult& result) {
  uint64_t state_bytes = 0;
  std::byte* answer = nullptr;
  const auto output_of = [&](const ReductionRoute& route) {
    if (plan.return_states) {
      state_bytes = plan.grouping.group_count * ReductionStateBytes(plan, route.parts);
    }
    answer = AnswerPlace(state_bytes + ReductionAnswerBytes(plan));
    return ReductionOutputAt(plan, answer + state_bytes, plan.return_states ? answer : nullptr);
  };
  const absl::StatusOr<ReductionRoute> route = EnqueueReduction(plan, stage, output_of, statistics);
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
  const size_t failure_words = ReductionFailureWords(plan);
  std::vector<MutableHostSpan> spans = {states};
  for (StatisticColumn& column : result.columns) {
    spans.push_back(BytesOf(column.slots));
  }
  spans.push_back(BytesOf(std::span(failures).first(failure_words)));
  if (absl::Status status = CopyOut(answer, spans, stop); !status.ok()) return status;
  return FirstFailure(plan, std::span(failures).first(failure_words));
}

}  // namespace gridfold::kernels::cuda
