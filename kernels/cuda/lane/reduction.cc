#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "kernels/contract/statistic_error.h"
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

}  // namespace

absl::Status CudaLane::Reduce(const ReductionPlan& plan, const InputSpan& input,
                              const std::stop_token& stop, RunStatistics& statistics,
                              ReductionResult& result) {
  statistics.bytes_read = ReductionBytesRead(plan);
  if (plan.array.size_bytes() <= kClockedBytesMax) timer_.UseClock();
  const absl::StatusOr<const std::byte*> elements =
      StageIn(input, plan.grouping, memory_.input.size_bytes(), stop);
  if (!elements.ok()) return elements.status();
  const absl::StatusOr<ReductionRoute> route =
      PlanReductionRoute({plan, properties_, IsVectorAddress(*elements)});
  if (!route.ok()) return route.status();
  statistics.strategy = route->strategy();

  // States, slots and failures stand one behind the other, so that one copy brings all. States come
  // first, since they are aligned to two words: with no gap nothing is copied that is not written.
  const uint64_t state_bytes =
      plan.return_states ? plan.grouping.group_count * ReductionStateBytes(plan, route->parts) : 0;
  const uint64_t failure_words = ReductionCanFail(plan) ? plan.statistics.size() : 0;
  const uint64_t slot_bytes = (plan.result_slot_count() + failure_words) * sizeof(uint64_t);
  std::byte* const answer = AnswerPlace(state_bytes + slot_bytes);
  void* const states_at = plan.return_states ? answer : nullptr;
  uint64_t* const slots = reinterpret_cast<uint64_t*>(answer + state_bytes);
  uint64_t* const failures_at = slots + plan.result_slot_count();
  const ReductionInput device_input{{*elements, plan.array.element_count},
                                    reinterpret_cast<const uint64_t*>(memory_.offsets.data())};
  Scratch scratch = NewScratch();
  absl::Status status = LaunchReduction(plan, *route, device_input, {slots, failures_at, states_at},
                                        scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;

  std::array<uint64_t, kStatisticCount> failures;
  std::vector<std::byte> states(state_bytes);
  std::vector<MutableHostSpan> spans = {{states.data(), states.size()}};
  for (StatisticColumn& column : result.columns) {
    spans.push_back(SpanOf(column.slots.data(), column.slots.size()));
  }
  spans.push_back(SpanOf(failures.data(), failure_words));
  status = CopyOut(answer, spans, stop);
  if (!status.ok()) return status;
  if (plan.return_states) result.states = StatesOf(plan, route->parts, states.data());
  return FirstFailure(plan, std::span(failures).first(failure_words));
}

}  // namespace gridfold::kernels::cuda
