#include "kernels/cuda/histogram/range.h"

#include <algorithm>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/histogram/plan/together.h"
#include "kernels/cuda/histogram/range_kernel.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kSamplesPerThread = 16;

// Enqueues the search over one array, for `channel_count` keys from `keys` on.
absl::Status LaunchRange(const HistogramPlan& plan, DeviceSpan samples, uint32_t channel_count,
                         ExtremeKeys* keys, const DeviceProperties& properties,
                         cudaStream_t stream) {
  if (plan.array.element_count == 0) return absl::OkStatus();
  const RangeArguments arguments{.samples = samples.data,
                                 .sample_count = plan.array.element_count,
                                 .channel_count = channel_count,
                                 .keys = keys};
  const uint64_t blocks_max =
      static_cast<uint64_t>(properties.multiprocessor_count) *
      static_cast<uint64_t>(properties.threads_per_multiprocessor_max / kRangeThreads);
  const uint32_t blocks =
      GridStrideBlocks(plan.array.element_count, kRangeThreads * kSamplesPerThread, blocks_max);
  LaunchShape shape;
  const uint64_t blocks_min = CeilDivide(channel_count, kRangeThreads);
  shape.grid = dim3(std::max(blocks, static_cast<uint32_t>(blocks_min)));
  shape.block = dim3(kRangeThreads);
  return Launch(FindRangeKernel(plan.array.element_type), shape, stream, arguments);
}

}  // namespace

uint64_t RangeScratchBytesMax(uint64_t bins_count) {
  // Of all samples, or of each block's where blocks resolve few ranges together.
  const uint64_t of_blocks =
      kTogetherBlocksMax * std::min<uint64_t>(bins_count, kHistogramTogetherBinsMax);
  return ScratchBytes(std::max(bins_count, of_blocks) * sizeof(ExtremeKeys));
}

uint64_t RangeScratchBytes(const HistogramPlan& plan) {
  return plan.needs_range() ? RangeScratchBytesMax(plan.bins.size()) : 0;
}

absl::Status ResolveRanges(const HistogramPlan& plan, const DeviceHistogramInput& input,
                           Scratch& scratch, const DeviceProperties& properties,
                           cudaStream_t stream, std::vector<PlannedBins>& bins) {
  std::vector<ExtremeKeys> keys(bins.size());
  const uint64_t keys_bytes = keys.size() * sizeof(ExtremeKeys);
  const auto device_keys = scratch.Allocate<ExtremeKeys>(keys.size());
  if (!device_keys.ok()) return device_keys.status();
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemcpyAsync(*device_keys, keys.data(), keys_bytes, cudaMemcpyHostToDevice, stream));

  absl::Status status =
      LaunchRange(plan, input.samples, plan.channel_count, *device_keys, properties, stream);
  if (status.ok() && plan.two_dimensional) {
    status = LaunchRange(plan, input.y_samples, 1, *device_keys + 1, properties, stream);
  }
  if (!status.ok()) return status;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemcpyAsync(keys.data(), *device_keys, keys_bytes, cudaMemcpyDeviceToHost, stream));
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));

  for (size_t c = 0; c < bins.size() && status.ok(); ++c) {
    if (!bins[c].automatic_range) continue;
    status = ResolveAutomaticRange(keys[c].Smallest(), keys[c].Largest(), bins[c]);
  }
  return status;
}

}  // namespace gridfold::kernels::cuda
