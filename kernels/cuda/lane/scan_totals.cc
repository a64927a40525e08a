#include <span>
#include <utility>

#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/scan/totals.h"

namespace gridfold::kernels::cuda {

absl::StatusOr<ScanTotals> CudaLane::FindScanTotals(const ScanPlan& plan, InputSpan input,
                                                    std::stop_token stop,
                                                    RunStatistics& statistics) {
  // Nothing is written.
  const MutableResidentSpan output{nullptr, plan.output_size_bytes()};
  if (absl::Status status = CheckScanFits(options_, plan, input, output); !status.ok()) {
    return status;
  }
  ScanTotals totals{.element_count = plan.array.element_count, .values = {}};
  const absl::Status status =
      Run(statistics, [&] { return TotalStaged(plan, input, stop, statistics, totals); });
  if (!status.ok()) return status;
  return totals;
}

void CudaLane::CarryOver(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) {
  CarryOverTotals(plan, totals, carry);
}

absl::Status CudaLane::TotalStaged(const ScanPlan& plan, const InputSpan& input,
                                   const std::stop_token& stop, RunStatistics& statistics,
                                   ScanTotals& totals) {
  statistics.strategy = "scan/totals";
  statistics.bytes_read = plan.array.size_bytes();
  // What comes over the bus is read once, as it comes.
  const absl::StatusOr<const std::byte*> elements = StageIn(input, plan.grouping, 0, stop);
  if (!elements.ok()) return elements.status();
  Scratch scratch = NewScratch();
  const absl::StatusOr<DeviceTotals> place = LaunchScanTotals(
      plan, {*elements, plan.array.element_count}, scratch, properties_, stream_.get());
  if (!place.ok()) return place.status();
  if (absl::Status status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
      !status.ok()) {
    return status;
  }
  totals.values.resize(place->size_bytes);
  const MutableHostSpan span{totals.values.data(), totals.values.size()};
  return staging_.CopyOut(place->data, std::span(&span, 1), stop, stream_.get());
}

}  // namespace gridfold::kernels::cuda
