// A lane makes integers of the sums, and of the sums of squares, of the elements that it has in
// registers: float64 does the additions, without rounding, beside numbers so large that the bits of
// a sum are the integer.
//
// A window is where such a number, an anchor, puts it: its unit, and the range of magnitudes whose
// sums are multiples of the unit and fit. The largest element of the lanes that share a group
// decides it. Elements below it are few, and have a window of their own.
//
// Example, the anchor 1.5 * 2^52, whose unit is 1:
//
//   bits(1.5 * 2^52)           0x4338000000000000
//   bits(1.5 * 2^52 + 3 + 9)   0x433800000000000c
//   the difference of the bits is the sum: 12
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_TURN_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_TURN_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cuda {

// Bits of an element's significand.
template <class T>
inline constexpr int kElementPrecision = std::is_same_v<T, float>     ? 24
                                         : std::is_same_v<T, Float16> ? 11
                                                                      : 8;

// A window for `kCount` elements of a lane.
template <class T, uint32_t kCount>
class FixedPointWindow {
  // What is left of 52 bits beside a sign: sums of kCount elements.
  static constexpr int kCountBits = std::bit_width(kCount - 1);
  static constexpr int kPrecision = kElementPrecision<T>;

 public:
  // Bits of an element in units.
  static constexpr int kBits = 51 - kCountBits;
  // Sums of squares are in two parts, whose units are so far apart. With squares below
  // 2^(2 * kBits) the upper part's fits 51 bits, and so do the errors of its additions in the lower
  // one: kCount of half an upper unit.
  static constexpr int kUpperShift = 2 * kBits + kCountBits - 51;
  static_assert(kCountBits + kUpperShift - 1 <= 51);

  // A window for elements up to one that has the exponent field `largest`.
  __device__ explicit FixedPointWindow(uint32_t largest)
      : top_(max(static_cast<int>(largest), kLowestTop)) {}

  // The exponent of the unit.
  __device__ int exponent() const { return top_ - kBias + 1 - kBits; }
  // The smallest magnitude that is a multiple of the unit, as others of its exponent are.
  __device__ float Smallest() const {
    constexpr int kRange = kBits - kPrecision;
    const int field = top_ > kLowestTop ? max(top_ - kRange, 0) : 0;
    return __uint_as_float(field == 0 ? 1 : static_cast<uint32_t>(field) << 23);
  }

  __device__ double SumAnchor() const { return Anchor(exponent()); }
  __device__ double UpperAnchor() const { return Anchor(2 * exponent() + kUpperShift); }
  __device__ double LowerAnchor() const { return Anchor(2 * exponent()); }

 private:
  static constexpr int kBias = 127;
  // The top with which the unit is that of the smallest floats.
  static constexpr int kLowestTop = kBits - 1 - 149 + kBias;

  // A number in whose neighbourhood numbers are multiples of 2^exponent.
  __device__ static double Anchor(int exponent) {
    return __hiloint2double(((exponent + 52 + 1023) << 20) | 0x8'0000, 0);
  }

  int top_;
};

// What was added to an anchor, in units.
__device__ inline int64_t UnitsBeside(double anchor, double sum) {
  return __double_as_longlong(sum) - __double_as_longlong(anchor);
}

// Extremes of a lane's elements, and of their magnitudes the smallest; NaN where there are none but
// NaN. Halves are compared two at a time.
template <class T>
struct FixedPointSurvey {
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  float least = kNan;
  float greatest = kNan;
  float smallest = kNan;

  __device__ void Add(const uint4& vector) {
#pragma unroll
    for (const float x : BatchOf<T>(vector).values) {
      least = fminf(least, x);
      greatest = fmaxf(greatest, x);
      smallest = fminf(smallest, fabsf(x));
    }
  }
  __device__ float Least() const { return least; }
  __device__ float Greatest() const { return greatest; }
  __device__ float Smallest() const { return smallest; }
};

template <HalfElement T>
struct FixedPointSurvey<T> {
  static constexpr uint32_t kNans = ~uint32_t{0};
  uint32_t least = kNans;
  uint32_t greatest = kNans;
  uint32_t smallest = kNans;

  __device__ void Add(const uint4& vector) {
    for (const uint32_t pair : {vector.x, vector.y, vector.z, vector.w}) {
      least = Extremes<false>(least, pair);
      greatest = Extremes<true>(greatest, pair);
      smallest = Extremes<false>(smallest, pair & 0x7FFF'7FFFu);
    }
  }
  __device__ float Least() const { return fminf(Lower(least), Upper(least)); }
  __device__ float Greatest() const { return fmaxf(Lower(greatest), Upper(greatest)); }
  __device__ float Smallest() const { return fminf(Lower(smallest), Upper(smallest)); }

 private:
  template <bool kIsMax>
  __device__ static uint32_t Extremes(uint32_t a, uint32_t b) {
    uint32_t extremes;
    if constexpr (std::is_same_v<T, Float16>) {
      if constexpr (kIsMax) {
        asm("max.f16x2 %0, %1, %2;" : "=r"(extremes) : "r"(a), "r"(b));
      } else {
        asm("min.f16x2 %0, %1, %2;" : "=r"(extremes) : "r"(a), "r"(b));
      }
    } else {
      if constexpr (kIsMax) {
        asm("max.bf16x2 %0, %1, %2;" : "=r"(extremes) : "r"(a), "r"(b));
      } else {
        asm("min.bf16x2 %0, %1, %2;" : "=r"(extremes) : "r"(a), "r"(b));
      }
    }
    return extremes;
  }
  __device__ static float Lower(uint32_t pair) { return ToCompute(T{static_cast<uint16_t>(pair)}); }
  __device__ static float Upper(uint32_t pair) {
    return ToCompute(T{static_cast<uint16_t>(pair >> 16)});
  }
};

// Sums of a lane's elements in a window.
template <class T, uint32_t kCount>
class FixedPointAdder {
 public:
  using Window = FixedPointWindow<T, kCount>;

  __device__ explicit FixedPointAdder(const Window& window)
      : window_(window),
        sum_(window.SumAnchor()),
        upper_(window.UpperAnchor()),
        lower_(window.LowerAnchor()) {}

  // Requires a multiple of the unit.
  __device__ void Add(double x) {
    sum_ += x;
    const double before = upper_;
    upper_ = __fma_rn(x, x, upper_);
    lower_ += __fma_rn(x, x, before - upper_);
  }

  // Whether a NaN was added.
  __device__ bool HasNan() const { return IsNan(sum_); }
  // The sum in units; squares in units squared.
  __device__ int64_t Sum() const { return UnitsBeside(window_.SumAnchor(), sum_); }
  __device__ Int128 Squares() const {
    const int64_t upper = UnitsBeside(window_.UpperAnchor(), upper_);
    return (Int128{upper} << Window::kUpperShift) + UnitsBeside(window_.LowerAnchor(), lower_);
  }

 private:
  Window window_;
  double sum_;
  double upper_;
  double lower_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_TURN_CUH_
