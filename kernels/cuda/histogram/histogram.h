// Histograms on the device. See device/launch.h for the manner of launchers; plain C++.
//
// LaunchHistogram counts on the device; CollectHistogram fetches the answer, by whatever copies the
// caller has, and finishes it on the host:
//
//   absl::StatusOr<DeviceHistogram> counted = LaunchHistogram(plan, input, scratch, ...);
//   if (!counted.ok()) return counted.status();
//   return CollectHistogram(plan, *std::move(counted), [&](const void* from, auto to) {
//     return staging.CopyOut(from, to, ...);
//   });
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_HISTOGRAM_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_HISTOGRAM_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/histogram.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/histogram/plan/input.h"
#include "kernels/cuda/histogram/plan/strategy.h"

namespace gridfold::kernels::cuda {

// A histogram in device memory, of the Scratch that it was launched with, or in `direct`. Pointers
// to its parts, but for the exact sums of weights, which are on the host.
struct DeviceHistogram {
  HistogramStrategy strategy;
  uint32_t cluster_size = 1;
  // The plan's, with automatic ranges resolved unless the device has: then `range_keys` are their
  // ExtremeKeys, [bins], which stand before the outcomes.
  std::vector<PlannedBins> bins;
  const uint64_t* range_keys = nullptr;
  const uint64_t* values = nullptr;  // Counts or, with weights, float64 sums of weights.
  uint64_t value_count = 0;
  const uint64_t* indices = nullptr;  // Counters that `values` stand for; null: all, in order.
  // [channel][underflow, overflow, NaN]; `values` follow them where they are not listed.
  const uint64_t* outcomes = nullptr;
  HistogramWeightStates weight_states = {};
};

// Device memory that LaunchHistogram takes of a Scratch.
uint64_t HistogramScratchBytes(const HistogramPlan& plan);

// The most that HistogramScratchBytes gives for plans of up to `bin_count` counters and
// kHistogramChannelsPlanned channels. Lanes are not made for more channels, though they may do.
inline constexpr uint64_t kHistogramChannelsPlanned = 1 << 16;
uint64_t HistogramScratchBytesMax(uint64_t bin_count);

// Enqueues the histogram on `stream`, a stream of the current device, which has `properties`. Waits
// for the stream where the plan has an automatic range of many samples or a sparse answer, or
// returns states. Counts and sums of weights are exact, so neither depends on the order of the
// samples. Errors: RESOURCE_EXHAUSTED where `scratch` is too small; INVALID_ARGUMENT from
// ResolveAutomaticRange; FAILED_PRECONDITION where the method in `overrides` cannot be had;
// INTERNAL from CUDA.
absl::StatusOr<DeviceHistogram> LaunchHistogram(const HistogramPlan& plan,
                                                const DeviceHistogramInput& input, Scratch& scratch,
                                                const DeviceProperties& properties,
                                                cudaStream_t stream,
                                                const HistogramOverrides& overrides = {});

// Copies consecutive bytes from device memory to one host span after the other, behind what the
// stream of the launch does; the bytes are there when it returns.
using CopyToHost =
    absl::FunctionRef<absl::Status(const void* from, std::span<const MutableHostSpan> to)>;

// The finished result. Errors: those of `copy`; INVALID_ARGUMENT from ResolveAutomaticRange.
absl::StatusOr<HistogramResult> CollectHistogram(const HistogramPlan& plan,
                                                 DeviceHistogram histogram, CopyToHost copy);

// Bytes of all arrays that LaunchHistogram reads. An automatic range takes a pass of its own, and
// so do the bins whose sums of weights do not fit the scratch together.
uint64_t HistogramBytesRead(const HistogramPlan& plan);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_HISTOGRAM_H_
