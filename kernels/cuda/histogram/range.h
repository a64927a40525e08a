// Automatic ranges: the extremes of the finite samples, looked up on the device. For histogram/
// only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kernels/contract/histogram.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/histogram/plan/input.h"

namespace gridfold::kernels::cuda {

uint64_t RangeScratchBytes(const HistogramPlan& plan);
uint64_t RangeScratchBytesMax(uint64_t bins_count);

// Resolves all automatic ranges of `bins`, a copy of the plan's. Waits for the stream. Errors:
// those of ResolveAutomaticRange; RESOURCE_EXHAUSTED where `scratch` is too small; INTERNAL from
// CUDA.
absl::Status ResolveRanges(const HistogramPlan& plan, const DeviceHistogramInput& input,
                           Scratch& scratch, const DeviceProperties& properties,
                           cudaStream_t stream, std::vector<PlannedBins>& bins);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_H_
