// A survey of a row is what is known of its floating-point elements besides their sums, for several
// statistics of rows.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_SURVEY_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_SURVEY_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

// An extreme of two, of which -0.0 is less than 0.0, and NaN where one is; of float64, for which
// there is no such instruction, neither.
template <bool kIsMax, class S>
__device__ inline S SurveyedExtreme(S x, S y) {
  if constexpr (sizeof(S) == sizeof(float)) {
    return ExtremeOrNan<kIsMax>(x, y);
  } else {
    return (kIsMax ? y > x : y < x) ? y : x;
  }
}

// Extremes, and the smallest magnitude that is not 0, as MagnitudeRange has it. Of float16
// magnitudes are not looked at.
template <class T>
class FloatSurvey {
 public:
  __device__ void Add(const uint4& raw) {
    if constexpr (sizeof(T) == sizeof(float)) {
      for (const float x : BatchOf<T>(raw).values) {
        min_ = SurveyedExtreme<false>(min_, x);
        max_ = SurveyedExtreme<true>(max_, x);
        smallest_less_one_ = min(smallest_less_one_, MagnitudeBits(x) - 1);
      }
    } else {
      for (const uint32_t pair : {raw.x, raw.y, raw.z, raw.w}) {
        min_ = ExtremeOrNanHalves<false, T>(min_, pair);
        max_ = ExtremeOrNanHalves<true, T>(max_, pair);
        if constexpr (kHasMagnitudes) {
          smallest_less_one_ =
              __viaddmin_u16x2(pair & 0x7FFF'7FFFu, ~uint32_t{0}, smallest_less_one_);
        }
      }
    }
  }

  __device__ float Min() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return min_;
    } else {
      return ToFloat(ExtremeOrNanHalves<false, T>(min_, min_ >> 16));
    }
  }
  __device__ float Max() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return max_;
    } else {
      return ToFloat(ExtremeOrNanHalves<true, T>(max_, max_ >> 16));
    }
  }
  __device__ uint32_t SmallestLessOne() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return smallest_less_one_;
    } else {
      constexpr uint32_t kMask = 0xFFFF;
      const uint32_t least = min(smallest_less_one_ & kMask, smallest_less_one_ >> 16);
      return least == kMask ? ~uint32_t{0} : MagnitudeBits(ToFloat(least + 1)) - 1;
    }
  }

 private:
  // Sums of float16 are exact whatever they are of.
  static constexpr bool kHasMagnitudes = !std::is_same_v<T, Float16>;
  using Extreme = std::conditional_t<sizeof(T) == sizeof(float), float, uint32_t>;
  __device__ static constexpr Extreme Infinity(bool is_negative) {
    if constexpr (sizeof(T) == sizeof(float)) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      return is_negative ? -kInfinity : kInfinity;
    } else {
      constexpr uint32_t kInfinity = std::is_same_v<T, Float16> ? 0x7C00'7C00u : 0x7F80'7F80u;
      return is_negative ? kInfinity | 0x8000'8000u : kInfinity;
    }
  }
  __device__ static float ToFloat(uint32_t half) {
    return ToCompute(std::bit_cast<T>(static_cast<uint16_t>(half)));
  }

  Extreme min_ = Infinity(false);
  Extreme max_ = Infinity(true);
  uint32_t smallest_less_one_ = ~uint32_t{0};
};

template <>
class FloatSurvey<double> {
 public:
  __device__ void Add(const uint4& raw) {
    for (const double x : BatchOf<double>(raw).values) {
      min_ = SurveyedExtreme<false>(min_, x);
      max_ = SurveyedExtreme<true>(max_, x);
      smallest_less_one_ = min(smallest_less_one_, MagnitudeBits(x) - 1);
      least_bits_ = min(least_bits_, __double2hiint(x));
    }
  }
  __device__ double Min() const { return min_; }
  __device__ double Max() const { return max_; }
  __device__ uint32_t SmallestLessOne() const { return smallest_less_one_; }
  __device__ bool HasNegativeZero() const { return least_bits_ == std::numeric_limits<int>::min(); }

 private:
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  uint32_t smallest_less_one_ = ~uint32_t{0};
  // The least of the upper halves, as integers. No number's is less than that of a negative zero,
  // and only those of the very smallest are not greater.
  int least_bits_ = std::numeric_limits<int>::max();
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_SURVEY_CUH_
