#include <array>
#include <span>
#include <variant>
#include <vector>

#include "kernels/cuda/cuda_lane.h"
#include "kernels/cuda/scan.h"
#include "kernels/scan_error.h"

namespace gridfold::kernels::cuda {

absl::Status CudaLane::Scan(const ScanPlan& plan, const InputSpan& input, const OutputSpan& output,
                            ScanCarry* carry, const std::stop_token& stop,
                            RunStatistics& statistics) {
  std::byte* const head = memory_.output.data();
  DeviceScanCarry device_carry;
  if (carry != nullptr) {
    device_carry = {head + kScanCarryOffset, carry->element_count > 0};
    const HostSpan value{carry->value.data(), carry->value.size()};
    absl::Status status = CopyIn(std::span(&value, 1), device_carry.value, stop);
    if (!status.ok()) return status;
  }

  statistics.strategy = ScanStrategy(plan);
  statistics.bytes_read = ScanBytesRead(plan);
  const auto* const resident = std::get_if<MutableResidentSpan>(&output);
  const bool writes_over_bus = resident != nullptr && IsLargeAndMapped(ResidentSpan(*resident));
  // Results that go over the bus overlap an input that comes over it, but not one that came before.
  const absl::StatusOr<const std::byte*> elements =
      StageIn(input, plan.grouping, writes_over_bus ? 0 : memory_.input.size_bytes(), stop);
  if (!elements.ok()) return elements.status();

  std::byte* const results = resident != nullptr ? resident->data : head + kOutputHeadBytes;
  const ScanInput device_input{{*elements, plan.array.element_count},
                               reinterpret_cast<const uint64_t*>(memory_.offsets.data())};
  const ScanOutput device_output{{results, plan.array.element_count},
                                 reinterpret_cast<uint32_t*>(head)};
  Scratch scratch(memory_.scratch.data(), memory_.scratch.size_bytes());
  absl::Status status = LaunchScan(plan, device_input, device_output, device_carry, scratch,
                                   properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;

  // The flag first: results that do not fit need not be copied.
  std::array<uint32_t, kScanCarryOffset / sizeof(uint32_t)> overflow{};
  const std::span<std::byte> flag_bytes = std::as_writable_bytes(std::span(overflow));
  std::vector<MutableHostSpan> spans = {{flag_bytes.data(), flag_bytes.size()}};
  if (carry != nullptr) spans.push_back({carry->value.data(), carry->value.size()});
  status = staging_.CopyOut(head, spans, stop, stream_.get());
  if (!status.ok()) return status;
  if (overflow[0] != 0) return ScanOverflowError(plan);
  if (carry != nullptr) carry->element_count += plan.array.element_count;
  if (resident == nullptr) {
    const auto& host = std::get<MutableHostSpan>(output);
    status = staging_.CopyOut(results, std::span(&host, 1), stop, stream_.get());
  }
  return status;
}

}  // namespace gridfold::kernels::cuda
