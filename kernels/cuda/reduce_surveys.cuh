// What is known of a turn's floats before they are added.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_SURVEYS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_SURVEYS_CUH_

#include <cstdint>
#include <limits>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_windows.cuh"

namespace gridfold::kernels::cuda {

struct FloatSurvey {
  float least;  // Of zeros, either; a NaN where there is one, as `greatest`.
  float greatest;
  MagnitudeRange range;
  uint32_t zeros;
};

// Elements that are not 0 cost three instructions each, and their conversion.
template <class T, uint32_t kCount>
__device__ inline FloatSurvey SurveyOf(const uint4 (&raw)[kCount]) {
  const auto for_each = [&](auto f) {
#pragma unroll
    for (uint32_t k = 0; k < kCount; ++k) {
      const auto batch = BatchOf<T>(raw[k]);
#pragma unroll
      for (const float x : batch.values) f(x);
    }
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float least = kInfinity;
  float greatest = -kInfinity;
  float smallest = kInfinity;
  for_each([&](float x) {
    least = ExtremeOrNan<false>(least, x);
    greatest = ExtremeOrNan<true>(greatest, x);
    smallest = fminf(smallest, fabsf(x));
  });
  const float largest = ExtremeOrNan<true>(-least, greatest);
  FloatSurvey survey{least, greatest, {__float_as_uint(largest), __float_as_uint(smallest) - 1}, 0};
  if (smallest == 0) {
    survey.range = {};
    for_each([&](float x) {
      survey.range.Add(MagnitudeBits(x));
      survey.zeros += x == 0 ? 1 : 0;
    });
  }
  return survey;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_SURVEYS_CUH_
