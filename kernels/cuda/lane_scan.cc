#include <span>
#include <variant>

#include "kernels/cuda/cuda_lane.h"
#include "kernels/cuda/scan.h"
#include "kernels/scan_error.h"

namespace gridfold::kernels::cuda {

absl::Status CudaLane::Scan(const ScanPlan& plan, const InputSpan& input, const OutputSpan& output,
                            const std::stop_token& stop, RunStatistics& statistics) {
  statistics.strategy = ScanStrategy(plan);
  statistics.bytes_read = ScanBytesRead(plan);
  const absl::StatusOr<const std::byte*> elements = StageIn(input, plan.grouping, stop);
  if (!elements.ok()) return elements.status();

  std::byte* const flag = memory_.output.data();
  const auto* const resident = std::get_if<MutableResidentSpan>(&output);
  std::byte* const results = resident != nullptr ? resident->data : flag + kFlagBytes;
  const ScanInput device_input{{*elements, plan.array.element_count},
                               reinterpret_cast<const uint64_t*>(memory_.offsets.data())};
  const ScanOutput device_output{{results, plan.array.element_count},
                                 reinterpret_cast<uint32_t*>(flag)};
  Scratch scratch(memory_.scratch.data(), memory_.scratch.size_bytes());
  absl::Status status =
      LaunchScan(plan, device_input, device_output, scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(stream_.get());
  if (!status.ok()) return status;

  // The flag first: results that do not fit need not be copied.
  uint32_t overflow = 0;
  const std::span<std::byte> flag_bytes = std::as_writable_bytes(std::span(&overflow, 1));
  const MutableHostSpan flag_span{flag_bytes.data(), flag_bytes.size()};
  status = staging_.CopyOut(flag, std::span(&flag_span, 1), stop, stream_.get());
  if (!status.ok()) return status;
  if (overflow != 0) return ScanOverflowError(plan);
  if (resident == nullptr) {
    const auto& host = std::get<MutableHostSpan>(output);
    status = staging_.CopyOut(results, std::span(&host, 1), stop, stream_.get());
  }
  if (status.ok()) status = timer_.Mark(stream_.get());
  return status;
}

}  // namespace gridfold::kernels::cuda
