// What is known of a turn's floating-point elements before they are added.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_SURVEYS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_SURVEYS_CUH_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_windows.cuh"

namespace gridfold::kernels::cuda {

// Of float64, surveyed parts are looked at.
struct TurnSurvey {
  float least;  // Of zeros, either; a NaN where there is one, as `greatest`.
  float greatest;
  MagnitudeRange range;
  uint32_t zeros;
  bool are_negative_zeros;  // All. float64 only.
};

// Elements that are not 0 cost three instructions each, and their conversion.
template <class T, uint32_t kCount>
__device__ inline TurnSurvey SurveyOf(const uint4 (&raw)[kCount]) {
  using S = ComputeType<T>;
  const auto for_each = [&](auto f) {
#pragma unroll
    for (uint32_t k = 0; k < kCount; ++k) {
      const auto batch = BatchOf<T>(raw[k]);
#pragma unroll
      for (const S x : batch.values) f(x);
    }
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float least = kInfinity;
  float greatest = -kInfinity;
  float smallest = kInfinity;
  for_each([&](S element) {
    const float x = SurveyedPart(element);
    least = ExtremeOrNan<false>(least, x);
    greatest = ExtremeOrNan<true>(greatest, x);
    smallest = fminf(smallest, fabsf(x));
  });
  const float largest = ExtremeOrNan<true>(-least, greatest);
  TurnSurvey survey{
      least, greatest, {__float_as_uint(largest), __float_as_uint(smallest) - 1}, 0, false};
  if (smallest == 0) {
    survey.range = {};
    uint32_t other = 0;
    for_each([&](S x) {
      survey.range.Add(MagnitudeBits(x));
      survey.zeros += x == 0 ? 1 : 0;
      if constexpr (std::is_same_v<S, double>) other |= BitsOtherThanOfNegativeZero(x);
    });
    survey.are_negative_zeros = other == 0;
  }
  return survey;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_SURVEYS_CUH_
