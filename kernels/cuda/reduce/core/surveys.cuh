// A survey is what is known of a turn's floating-point elements before they are added.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_SURVEYS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_SURVEYS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"

namespace gridfold::kernels::cuda {

// The survey of a turn. Of float64, surveyed parts are looked at.
struct TurnSurvey {
  float least;  // Of zeros, either; a NaN where there is one, as `greatest`.
  float greatest;
  MagnitudeRange range;
  uint32_t zeros;
  bool are_negative_zeros;  // All. float64 only.
};

// The turn's range and zeros where there are zeros.
template <class T, uint32_t kCount>
__device__ inline void AddZeros(const uint4 (&raw)[kCount], TurnSurvey& survey) {
  using S = ComputeType<T>;
  survey.range = {};
  uint32_t other = 0;
#pragma unroll
  for (uint32_t k = 0; k < kCount; ++k) {
    const auto batch = BatchOf<T>(raw[k]);
#pragma unroll
    for (const S x : batch.values) {
      survey.range.Add(MagnitudeBits(x));
      survey.zeros += x == 0 ? 1 : 0;
      if constexpr (std::is_same_v<S, double>) other |= BitsOtherThanOfNegativeZero(x);
    }
  }
  survey.are_negative_zeros = other == 0;
}

// `smallest` is of the magnitudes.
template <class T, uint32_t kCount>
__device__ inline TurnSurvey SurveyFrom(float least, float greatest, float smallest,
                                        const uint4 (&raw)[kCount]) {
  const float largest = ExtremeOrNan<true>(-least, greatest);
  TurnSurvey survey{
      least, greatest, {__float_as_uint(largest), __float_as_uint(smallest) - 1}, 0, false};
  if (smallest == 0) AddZeros<T>(raw, survey);
  return survey;
}

// Elements that are not 0 cost three instructions each.
template <class T, uint32_t kCount>
__device__ inline TurnSurvey SurveyOf(const uint4 (&raw)[kCount]) requires(!HalfElement<T>) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float least = kInfinity;
  float greatest = -kInfinity;
  float smallest = kInfinity;
#pragma unroll
  for (uint32_t k = 0; k < kCount; ++k) {
    const auto batch = BatchOf<T>(raw[k]);
#pragma unroll
    for (const auto element : batch.values) {
      const float x = SurveyedPart(element);
      least = ExtremeOrNan<false>(least, x);
      greatest = ExtremeOrNan<true>(greatest, x);
      smallest = fminf(smallest, fabsf(x));
    }
  }
  return SurveyFrom<T>(least, greatest, smallest, raw);
}

// The survey of a turn of halves, two elements at a time. Magnitudes are in the order of their
// bits.
template <HalfElement T, uint32_t kCount>
__device__ inline TurnSurvey SurveyOf(const uint4 (&raw)[kCount]) {
  constexpr uint32_t kMagnitudes = 0x7FFF'7FFFu;
  uint32_t least = raw[0].x;
  uint32_t greatest = raw[0].x;
  uint32_t smallest = kMagnitudes;
#pragma unroll
  for (uint32_t k = 0; k < kCount; ++k) {
    const uint32_t words[4] = {raw[k].x, raw[k].y, raw[k].z, raw[k].w};
#pragma unroll
    for (const uint32_t word : words) {
      least = ExtremeOrNanHalves<false, T>(least, word);
      greatest = ExtremeOrNanHalves<true, T>(greatest, word);
      smallest = __vminu2(smallest, word & kMagnitudes);
    }
  }
  const uint16_t smallest_bits = ExtremeOfWord<false, uint16_t>(smallest);
  return SurveyFrom<T>(ToCompute(ExtremeOfWord<false, T>(least)),
                       ToCompute(ExtremeOfWord<true, T>(greatest)),
                       ToCompute(std::bit_cast<T>(smallest_bits)), raw);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_SURVEYS_CUH_
