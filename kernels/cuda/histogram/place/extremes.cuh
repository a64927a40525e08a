// The extremes of a thread's finite samples, as keys: see histogram/plan/extreme_keys.h.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_EXTREMES_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_EXTREMES_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/walk.cuh"
#include "kernels/cuda/histogram/plan/extreme_keys.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cuda {

// Keys of the samples that `walk` takes, which are of one channel.
template <class T>
__device__ inline ExtremeKeys ExtremesOfThread(const T* samples, const SampleWalk& walk) {
  constexpr int kUnroll = 8;
  bool is_empty = true;
  ComputeType<T> smallest{};
  ComputeType<T> largest{};
#pragma unroll kUnroll
  for (uint32_t step = 0; step < walk.sample_steps; ++step) {
    const ComputeType<T> x = ToCompute(samples[walk.SampleAt(step)]);
    if (IsNan(x) || IsInfinite(x)) continue;
    smallest = is_empty || x < smallest ? x : smallest;
    largest = is_empty || x > largest ? x : largest;
    is_empty = false;
  }
  ExtremeKeys keys;
  if (!is_empty) {
    // Adding 0 makes -0.0 the 0.0 that it equals, so that a bound's sign is not left to chance.
    keys.smallest = OrderedKey(LowerBoundFor(smallest) + 0.0);
    keys.largest = OrderedKey(UpperBoundFor(largest) + 0.0);
  }
  return keys;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_EXTREMES_CUH_
