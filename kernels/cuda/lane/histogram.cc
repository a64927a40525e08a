#include "kernels/cuda/histogram/histogram.h"

#include <span>
#include <utility>
#include <vector>

#include "kernels/cuda/histogram/plan/tables.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/lane.h"

namespace gridfold::kernels::cuda {

absl::Status CudaLane::Histogram(const HistogramPlan& plan, const HistogramInput& input,
                                 const std::stop_token& stop, RunStatistics& statistics,
                                 HistogramResult& result) {
  DeviceHistogramInput device_input;
  const StagedArray arrays[] = {{input.array, device_input.samples},
                                {input.y_array, device_input.y_samples},
                                {input.weights, device_input.weights}};
  absl::Status status = StageArrays(arrays, plan.array.element_count, stop);
  if (!status.ok()) return status;
  Scratch scratch = NewScratch();
  if (const std::vector<HostSpan> tables = EdgeTableSpans(plan); !tables.empty()) {
    uint64_t table_bytes = 0;
    for (const HostSpan& table : tables) table_bytes += table.size_bytes;
    const absl::StatusOr<std::byte*> edges = scratch.Allocate<std::byte>(table_bytes);
    if (!edges.ok()) return edges.status();
    status = CopyIn(tables, *edges, stop);
    device_input.edges = reinterpret_cast<const double*>(*edges);
  }
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kStagingEnds, stream_.get());
  timer_.WatchKernels(stream_.get());
  if (status.ok()) status = CheckStop(stop);
  if (!status.ok()) return status;

  device_input.direct = {reinterpret_cast<uint64_t*>(direct_memory_.data()),
                         direct_memory_.size_bytes() / sizeof(uint64_t)};
  absl::StatusOr<DeviceHistogram> counted =
      LaunchHistogram(plan, device_input, scratch, properties_, stream_.get());
  if (!counted.ok()) return counted.status();
  statistics.strategy = HistogramMethodName(counted->strategy.method);
  statistics.cluster_size = counted->cluster_size;
  statistics.bytes_read = HistogramBytesRead(plan);
  status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;

  absl::StatusOr<HistogramResult> collected = CollectHistogram(
      plan, *std::move(counted), [&](const void* from, std::span<const MutableHostSpan> to) {
        return CopyOut(static_cast<const std::byte*>(from), to, stop);
      });
  if (!collected.ok()) return collected.status();
  result = *std::move(collected);
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
