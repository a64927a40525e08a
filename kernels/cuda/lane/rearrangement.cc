#include <span>
#include <variant>

#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/rearrange/rearrange.h"

namespace gridfold::kernels::cuda {

absl::Status CudaLane::Rearrange(const Rearrangement& order, uint64_t element_bytes, InputSpan from,
                                 OutputSpan to, std::stop_token stop, RunStatistics& statistics) {
  absl::Status fits = CheckRearrangementFits(options_, order, element_bytes, from, to);
  if (!fits.ok()) return fits;
  return Run(statistics, [&]() -> absl::Status {
    statistics.strategy = "rearrange/tiles";
    statistics.bytes_read = order.element_count() * element_bytes;
    const auto* const resident = std::get_if<MutableResidentSpan>(&to);
    std::byte* const results =
        resident != nullptr ? resident->data : memory_.output.data() + kOutputHeadBytes;
    const absl::StatusOr<const std::byte*> elements =
        StageIn(from, Grouping{}, memory_.input.size_bytes(), stop);
    if (!elements.ok()) return elements.status();
    absl::Status status =
        LaunchRearrangement(order, element_bytes, *elements, results, stream_.get());
    if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
    if (!status.ok() || resident != nullptr) return status;
    const auto& host = std::get<MutableHostSpan>(to);
    return staging_.CopyOut(results, std::span(&host, 1), stop, stream_.get());
  });
}

}  // namespace gridfold::kernels::cuda
