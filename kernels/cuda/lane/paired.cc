// Sums of products of two arrays, or of the columns of one.
#include "kernels/cuda/paired/paired.h"

#include <span>
#include <vector>

#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/lane.h"

namespace gridfold::kernels::cuda {

absl::StatusOr<PairedSums> CudaLane::RunPaired(const PairedPlan& plan, const PairedInput& input,
                                               std::stop_token stop, RunStatistics& statistics) {
  if (absl::Status status = CheckPairedFits(options_, plan, input); !status.ok()) return status;
  const PairedWords layout(plan);
  std::vector<uint64_t> words(layout.size());
  const absl::Status status =
      Run(statistics, [&] { return SumPaired(plan, input, stop, statistics, words); });
  if (!status.ok()) return status;
  return layout.ToSums(plan, words);
}

absl::Status CudaLane::SumPaired(const PairedPlan& plan, const PairedInput& input,
                                 const std::stop_token& stop, RunStatistics& statistics,
                                 std::vector<uint64_t>& words) {
  statistics.strategy = "paired/digits";
  statistics.bytes_read = SizeBytes(input.x) + SizeBytes(input.y) + SizeBytes(input.weights);
  Scratch scratch = NewScratch();
  const absl::StatusOr<PairedTerm*> terms = scratch.Allocate<PairedTerm>(plan.terms.size());
  if (!terms.ok()) return terms.status();
  const auto term_bytes = std::as_bytes(std::span(plan.terms));
  const HostSpan term_span{term_bytes.data(), term_bytes.size()};
  absl::Status status =
      CopyIn(std::span(&term_span, 1), reinterpret_cast<std::byte*>(*terms), stop);
  DeviceSpan x;
  DeviceSpan y;
  DeviceSpan weights;
  const StagedArray arrays[] = {{input.x, x}, {input.y, y}, {input.weights, weights}};
  if (status.ok()) status = StageArrays(arrays, plan.x.element_count, stop);
  if (status.ok()) status = BeginKernels(stop);
  if (!status.ok()) return status;

  const PairedPlaces places{.x = x.data,
                            .y = y.data,
                            .weights = weights.data,
                            .column_count = plan.column_count,
                            .has_y = plan.has_y,
                            .has_weights = plan.has_weights};
  const absl::StatusOr<uint64_t*> summed =
      LaunchPaired(plan, places, *terms, scratch, properties_, stream_.get());
  if (!summed.ok()) return summed.status();
  status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(words));
  const MutableHostSpan target{bytes.data(), bytes.size()};
  return CopyOut(reinterpret_cast<const std::byte*>(*summed), std::span(&target, 1), stop);
}

}  // namespace gridfold::kernels::cuda
