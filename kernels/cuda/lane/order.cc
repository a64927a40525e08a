// Quantiles, and the largest or smallest elements.
#include "kernels/cuda/order/order.h"

#include <array>
#include <limits>
#include <span>

#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/device/host_bytes.h"
#include "kernels/cuda/lane/lane.h"

namespace gridfold::kernels::cuda {

absl::StatusOr<QuantileResult> CudaLane::RunQuantiles(const QuantilePlan& plan, InputSpan input,
                                                      std::stop_token stop,
                                                      RunStatistics& statistics) {
  if (absl::Status status = CheckQuantilesFit(options_, plan, input); !status.ok()) return status;
  QuantileResult result;
  result.slots.resize(plan.result_slot_count());
  const absl::Status status =
      Run(statistics, [&] { return Quantiles(plan, input, stop, statistics, result); });
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<TopResult> CudaLane::RunTop(const TopPlan& plan, InputSpan input,
                                           std::stop_token stop, RunStatistics& statistics) {
  if (absl::Status status = CheckTopFits(options_, plan, input); !status.ok()) return status;
  TopResult result = MakeTopResult(plan);
  const absl::Status status =
      Run(statistics, [&] { return Top(plan, input, stop, statistics, result); });
  if (!status.ok()) return status;
  if (plan.count > kSortedOnDeviceMax) SortTop(plan, result);
  return result;
}

std::span<std::byte> CudaLane::SpareBeside(const std::byte* elements) const {
  if (elements == memory_.input.data()) return {};
  return {memory_.input.data(), memory_.input.size_bytes()};
}

absl::Status CudaLane::Quantiles(const QuantilePlan& plan, const InputSpan& input,
                                 const std::stop_token& stop, RunStatistics& statistics,
                                 QuantileResult& result) {
  statistics.bytes_read = plan.array.size_bytes();
  Scratch scratch = NewScratch();
  const absl::StatusOr<QuantileTarget*> targets =
      scratch.Allocate<QuantileTarget>(plan.targets.size());
  if (!targets.ok()) return targets.status();
  const auto bytes = std::as_bytes(std::span(plan.targets));
  const HostSpan span{bytes.data(), bytes.size()};
  absl::Status status = CopyIn(std::span(&span, 1), reinterpret_cast<std::byte*>(*targets), stop);
  if (!status.ok()) return status;
  const absl::StatusOr<const std::byte*> elements =
      StageIn(input, plan.grouping, memory_.input.size_bytes(), stop);
  if (!elements.ok()) return elements.status();
  const OrderInput device_input{{*elements, plan.array.element_count},
                                reinterpret_cast<const uint64_t*>(memory_.offsets.data()),
                                SpareBeside(*elements)};
  statistics.strategy = QuantileStrategy(plan, device_input, properties_);
  std::byte* const answer = AnswerPlace(result.slots.size() * sizeof(uint64_t));
  status = LaunchQuantiles(plan, device_input, *targets, reinterpret_cast<uint64_t*>(answer),
                           scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;
  const MutableHostSpan slots = BytesOf(result.slots);
  return CopyOut(answer, std::span(&slots, 1), stop);
}

absl::Status CudaLane::Top(const TopPlan& plan, const InputSpan& input, const std::stop_token& stop,
                           RunStatistics& statistics, TopResult& result) {
  statistics.bytes_read = plan.array.size_bytes();
  Scratch scratch = NewScratch();
  const absl::StatusOr<const std::byte*> elements =
      StageIn(input, plan.grouping, memory_.input.size_bytes(), stop);
  if (!elements.ok()) return elements.status();
  const OrderInput device_input{{*elements, plan.array.element_count},
                                reinterpret_cast<const uint64_t*>(memory_.offsets.data()),
                                SpareBeside(*elements)};
  statistics.strategy = TopStrategy(plan, device_input, properties_);
  // In device memory, since kernels read there what others have written.
  std::byte* const answer = memory_.output.data() + kOutputHeadBytes;
  uint64_t* const slots = reinterpret_cast<uint64_t*>(answer);
  const uint64_t count = plan.result_count();
  absl::Status status = LaunchTop(plan, device_input, {slots, slots + count, slots + 2 * count},
                                  scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;
  std::array<uint64_t, 1> lacking_group{};
  const std::array spans = {BytesOf(result.slots), BytesOf(result.indices), BytesOf(lacking_group)};
  status = CopyOut(answer, spans, stop);
  if (!status.ok()) return status;
  if (lacking_group[0] == std::numeric_limits<uint64_t>::max()) return absl::OkStatus();
  return TooFewNumbers(plan, lacking_group[0]);
}

}  // namespace gridfold::kernels::cuda
