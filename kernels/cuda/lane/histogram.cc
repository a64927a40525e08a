#include "kernels/cuda/histogram/histogram.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/histogram/add_words.h"
#include "kernels/cuda/histogram/plan/tables.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/lane.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kWordBytes = sizeof(uint64_t);

}  // namespace

absl::StatusOr<DeviceHistogram> CudaLane::Count(const HistogramPlan& plan,
                                                const HistogramInput& input,
                                                const std::stop_token& stop,
                                                RunStatistics& statistics) {
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
  if (status.ok()) status = BeginKernels(stop);
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
  return counted;
}

absl::Status CudaLane::Histogram(const HistogramPlan& plan, const HistogramInput& input,
                                 const std::stop_token& stop, RunStatistics& statistics,
                                 HistogramResult& result) {
  absl::StatusOr<DeviceHistogram> counted = Count(plan, input, stop, statistics);
  if (!counted.ok()) return counted.status();
  absl::StatusOr<HistogramResult> collected = CollectHistogram(
      plan, *std::move(counted), [&](const void* from, std::span<const MutableHostSpan> to) {
        return CopyOut(static_cast<const std::byte*>(from), to, stop);
      });
  if (!collected.ok()) return collected.status();
  result = *std::move(collected);
  return absl::OkStatus();
}

absl::Status CudaLane::CountInto(const HistogramPlan& plan, const HistogramInput& input,
                                 MutableResidentSpan words, std::stop_token stop,
                                 RunStatistics& statistics) {
  if (absl::Status status = CheckHistogramFits(options_, plan, input); !status.ok()) return status;
  if (CountsInParts(plan, input)) return Lane::CountInto(plan, input, words, stop, statistics);
  return Run(statistics, [&]() -> absl::Status {
    const absl::StatusOr<DeviceHistogram> counted = Count(plan, input, stop, statistics);
    if (!counted.ok()) return counted.status();
    // The values stand behind the outcomes.
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(words.data, counted->outcomes, words.size_bytes,
                                                  cudaMemcpyDefault, stream_.get()));
    return absl::OkStatus();
  });
}

// What another device has is brought piece by piece to the lane's scratch first: directly where
// devices reach each other, else by the driver, through the host.
absl::Status CudaLane::AddWords(ResidentSpan from, MutableResidentSpan to, std::stop_token stop) {
  RunStatistics unused;
  return Run(unused, [&]() -> absl::Status {
    std::byte* const place = memory_.scratch.data();
    const uint64_t piece_bytes = memory_.scratch.size_bytes() / kWordBytes * kWordBytes;
    for (uint64_t begin = 0; begin < to.size_bytes; begin += piece_bytes) {
      if (absl::Status status = CheckStop(stop); !status.ok()) return status;
      const uint64_t size_bytes = std::min(piece_bytes, to.size_bytes - begin);
      GRIDFOLD_RETURN_IF_CUDA_ERROR(
          cudaMemcpyAsync(place, from.data + begin, size_bytes, cudaMemcpyDefault, stream_.get()));
      absl::Status status = LaunchAddWords(place, size_bytes / kWordBytes, to.data + begin,
                                           properties_, stream_.get());
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

}  // namespace gridfold::kernels::cuda
