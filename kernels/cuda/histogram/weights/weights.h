// Exact sums of weights on the device. Plain C++; for histogram/ only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WEIGHTS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WEIGHTS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/input.h"
#include "kernels/cuda/histogram/plan/launch.h"
#include "kernels/cuda/histogram/plan/weight_kernels.h"

namespace gridfold::kernels::cuda {

// Device memory that SumWeights takes of a Scratch, and the most of it for plans of up to
// `bin_count` bins.
uint64_t WeightScratchBytes(const HistogramPlan& plan);
uint64_t WeightScratchBytesMax(uint64_t bin_count);

// How often SumWeights goes through the samples: each time for as many bins as have room.
uint64_t WeightPassCount(const HistogramPlan& plan);

// Enqueues the summation of all weights into the float64 numbers at `rounded`, one for each bin, by
// the kernel of `launch`. Where the plan returns states, waits for them and sets `states`. Errors:
// RESOURCE_EXHAUSTED where `scratch` is too small; INTERNAL from CUDA.
absl::Status SumWeights(const HistogramPlan& plan, const CountingLaunch& launch,
                        const HistogramArguments& arguments, double* rounded, Scratch& scratch,
                        cudaStream_t stream, const HistogramOverrides& overrides,
                        HistogramWeightStates& states);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WEIGHTS_H_
