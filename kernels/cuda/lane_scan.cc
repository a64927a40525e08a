#include <span>

#include "kernels/cuda/cuda_lane.h"
#include "kernels/cuda/scan.h"
#include "kernels/scan_error.h"

namespace gridfold::kernels::cuda {

absl::Status CudaLane::Scan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                            const std::stop_token& stop, RunStatistics& statistics) {
  statistics.strategy = ScanStrategy(plan);
  statistics.bytes_read = ScanBytesRead(plan);
  absl::Status status = StageIn(input, plan.grouping, stop);
  if (!status.ok()) return status;

  std::byte* const flag = memory_.output.data();
  std::byte* const results = flag + kFlagBytes;
  const ScanInput device_input{{memory_.input.data(), plan.array.element_count},
                               reinterpret_cast<const uint64_t*>(memory_.offsets.data())};
  const ScanOutput device_output{{results, plan.array.element_count},
                                 reinterpret_cast<uint32_t*>(flag)};
  Scratch scratch(memory_.scratch.data(), memory_.scratch.size_bytes());
  status = LaunchScan(plan, device_input, device_output, scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(stream_.get());
  if (!status.ok()) return status;

  // The flag first: results that do not fit need not be copied.
  uint32_t overflow = 0;
  const std::span<std::byte> flag_bytes = std::as_writable_bytes(std::span(&overflow, 1));
  const MutableHostSpan flag_span{flag_bytes.data(), flag_bytes.size()};
  status = staging_.CopyOut(flag, std::span(&flag_span, 1), stop, stream_.get());
  if (!status.ok()) return status;
  if (overflow != 0) return ScanOverflowError(plan);
  status = staging_.CopyOut(results, std::span(&output, 1), stop, stream_.get());
  if (status.ok()) status = timer_.Mark(stream_.get());
  return status;
}

}  // namespace gridfold::kernels::cuda
