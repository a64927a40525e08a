// The kernel that finds the extremes of the finite samples. For range.c* only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_KERNEL_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_KERNEL_H_

#include <cstdint>

#include "kernels/cuda/histogram/plan/extreme_keys.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

struct RangeArguments {
  const void* samples = nullptr;
  uint64_t sample_count = 0;
  uint32_t channel_count = 1;
  ExtremeKeys* keys = nullptr;  // One for each channel, in its initial state.
};

inline constexpr int kRangeThreads = 256;

// A kernel that brings `keys` up to date; a grid of at least one thread for each channel.
using RangeKernel = void (*)(RangeArguments);
RangeKernel FindRangeKernel(ElementType type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_KERNEL_H_
