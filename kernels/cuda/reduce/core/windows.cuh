// A thread keeps exact sums in registers as long as the data allow: a float64 holds a sum exactly
// while the exponents of its addends lie in a window, which follows the data. Addends outside the
// window go to the words of words.cuh; so does the sum itself when its window moves, and after
// kWindowAdditions elements.
//
// Sums of squares of floats, and sums of float64 elements (double_window.cuh), have more bits than
// one float64. Each addend x is split at a fixed place: with A = 1.5 * 2^(52 + b), high = (x + A) -
// A is the multiple of 2^b next to x, and x - high is exact (Dekker 1971; Rump, Ogita, Oishi 2008,
// "Accurate floating-point summation", part I: ExtractScalar). High and low parts are summed apart.
//
// Example, b = 0, so A = 1.5 * 2^52:
//
//   x = 5.375       x + A = A + 5      high = 5, low = 0.375
//   x = 2.75        x + A = A + 3      high = 3, low = -0.25
//   sums            8 and 0.125        together 8.125, and neither sum was rounded
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WINDOWS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WINDOWS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/words.cuh"

namespace gridfold::kernels::cuda {

// 2^10: every bound below is made with it.
inline constexpr uint32_t kWindowAdditions = 1024;

// Where a batch of elements lies: bits of |x|, or the upper half of those of a float64, whose
// lowest bit is then set where the lower half is not 0. Zeros lie in every window.
struct MagnitudeRange {
  uint32_t largest = 0;
  uint32_t smallest_less_one = ~uint32_t{0};  // Of those that are not 0; ~0 where all are.

  __device__ void Add(uint32_t magnitude) {
    largest = max(largest, magnitude);
    smallest_less_one = min(smallest_less_one, magnitude - 1);
  }
  __device__ void Merge(const MagnitudeRange& other) {
    largest = max(largest, other.largest);
    smallest_less_one = min(smallest_less_one, other.smallest_less_one);
  }
};

__device__ inline uint32_t MagnitudeBits(float x) { return __float_as_uint(x) & 0x7FFF'FFFFu; }
__device__ inline uint32_t MagnitudeBits(double x) {
  return (static_cast<uint32_t>(__double2hiint(x)) & 0x7FFF'FFFFu) |
         (__double2loint(x) != 0 ? 1u : 0u);
}

// 0 for -0.0 alone.
__device__ inline uint32_t BitsOtherThanOfNegativeZero(double x) {
  return (static_cast<uint32_t>(__double2hiint(x)) ^ 0x8000'0000u) |
         static_cast<uint32_t>(__double2loint(x));
}

// The part of an element that surveys look at: a float itself, and of float64 the upper half, as a
// float. Upper halves are ordered as their elements are. The largest elements, which no window
// takes, are infinite or NaN then.
__device__ inline float SurveyedPart(float x) { return x; }
__device__ inline float SurveyedPart(double x) {
  return __uint_as_float(static_cast<uint32_t>(__double2hiint(x)));
}

// The range of some elements, with two instructions for each where no surveyed part is 0, which
// `has_zero` tells.
template <class S, uint32_t kCount, uint32_t kSize>
__device__ inline MagnitudeRange RangeOfElements(const S (&values)[kCount][kSize], bool& has_zero) {
  float largest = 0;
  float least = std::numeric_limits<float>::infinity();
#pragma unroll
  for (uint32_t i = 0; i < kCount * kSize; ++i) {
    const float magnitude = fabsf(SurveyedPart(values[i / kSize][i % kSize]));
    largest = ExtremeOrNan<true>(largest, magnitude);
    least = fminf(least, magnitude);
  }
  has_zero = least == 0;
  MagnitudeRange range = {__float_as_uint(largest), __float_as_uint(least) - 1};
  if (has_zero) {
    range = {};
#pragma unroll
    for (uint32_t i = 0; i < kCount * kSize; ++i) {
      range.Add(MagnitudeBits(values[i / kSize][i % kSize]));
    }
  }
  return range;
}

// Which magnitudes a window takes, as biased exponents. Formats of S: float or double, and whether
// squares of these are split too. Numbers have kPrecision bits, and below the exponent of biased
// kLowestBiased fewer of them.
template <class S, bool kSplitsSquares = false, int kPrecision = std::numeric_limits<S>::digits,
          int kLowestBiased = 1>
struct WindowBounds {
  static constexpr int kFieldShift = std::is_same_v<S, float> ? 23 : 20;
  static constexpr int kBiasedMax = std::is_same_v<S, float> ? 254 : kSplitsSquares ? 1520 : 2030;
  static constexpr int kBiasedMaxLeast = kSplitsSquares ? 580 : 0;
  // Exponents of a window but one. float: kPrecision bits and 1024 addends leave 53 - kPrecision -
  // 10; the split square has as much room. double: see
  // double_window.cuh.
  static constexpr int kSpan = std::is_same_v<S, float> ? 43 - kPrecision
                               : kSplitsSquares         ? 15
                                                        : 32;
  // Numbers somewhat larger than those that the window was made for come often, and may be much
  // larger where there is room.
  static constexpr int kSlack = kSplitsSquares                           ? 1
                                : std::is_same_v<S, float> && kSpan > 19 ? 12
                                                                         : 3;

  uint32_t limit = 1;  // Takes zeros only.
  uint32_t least_less_one = 0;

  __device__ bool Takes(const MagnitudeRange& range) const {
    return range.largest < limit && range.smallest_less_one >= least_less_one;
  }
  // Whether the window takes one element.
  __device__ bool Takes(uint32_t magnitude) const {
    return magnitude < limit && magnitude - 1 >= least_less_one;
  }
  __device__ bool HoldsNumbers() const { return limit > 1; }
  // Requires HoldsNumbers().
  __device__ int BiasedMax() const { return static_cast<int>(limit >> kFieldShift) - 1; }

  // Moves to where it takes the range, and numbers `slack` binades larger if these fit too; returns
  // whether there is such a place. `biased_max` becomes the largest biased exponent that it takes.
  __device__ bool MoveTo(const MagnitudeRange& range, int& biased_max, int slack = kSlack) {
    const int largest = static_cast<int>(range.largest >> kFieldShift);
    const int smallest =
        max(static_cast<int>((range.smallest_less_one + 1) >> kFieldShift), kLowestBiased);
    if (range.largest == 0 || largest - smallest > kSpan) return false;
    if (largest < kBiasedMaxLeast || largest > kBiasedMax) return false;
    biased_max = min(min(largest + slack, smallest + kSpan), kBiasedMax);
    biased_max = max(biased_max, largest);
    Place(biased_max);
    return true;
  }

 private:
  __device__ void Place(int biased_max) {
    const int biased_min = biased_max - kSpan;
    limit = static_cast<uint32_t>(biased_max + 1) << kFieldShift;
    // What is below kLowestBiased has no smaller unit.
    least_less_one =
        biased_min <= kLowestBiased ? 0 : (static_cast<uint32_t>(biased_min) << kFieldShift) - 1;
  }
};

// The sum of a vector's elements, where every sum of some of them is exact: in few steps that wait
// for each other.
template <class S, uint32_t kSize>
__device__ inline double SumOfVector(const S (&values)[kSize]) {
  static_assert((kSize & (kSize - 1)) == 0);
  double sums[kSize];
#pragma unroll
  for (uint32_t k = 0; k < kSize; ++k) sums[k] = values[k];
#pragma unroll
  for (uint32_t count = kSize / 2; count > 0; count /= 2) {
#pragma unroll
    for (uint32_t k = 0; k < count; ++k) sums[k] += sums[count + k];
  }
  return sums[0];
}

// The sum of the squares of a vector's elements, where every sum of some of them is exact.
template <class S, uint32_t kSize>
__device__ inline double SumOfSquares(const S (&values)[kSize]) {
  static_assert((kSize & (kSize - 1)) == 0 && kSize > 1);
  double sums[kSize / 2];
#pragma unroll
  for (uint32_t k = 0; k < kSize / 2; ++k) {
    const double x = values[k];
    const double y = values[kSize / 2 + k];
    sums[k] = fma(x, x, y * y);
  }
  return SumOfVector(sums);
}

// Squares of floats: `high` begins at the anchor and is rounded as the anchor is, so that no
// addition of its own is needed.
struct SquareSum {
  double high = 0;
  double low = 0;

  // x * x, unrounded.
  __device__ void Add(double x) {
    const double sum = fma(x, x, high);
    low += fma(x, x, high - sum);
    high = sum;
  }
  // A sum of squares that is exact.
  __device__ void AddSum(double squares) {
    const double sum = high + squares;
    low += squares + (high - sum);
    high = sum;
  }
};

// Squares of floats: with b 42 less than the exponent of what is past the largest square, the sum
// of n = 2^10 of them stays below 2^(52 + b), and with the anchor 2^(52 + b) within its binade,
// whose unit is 2^b. The last bit of the smallest of numbers with p bits is 2^(2 * (biased_min -
// 126
// - p)), so n * 2^(b - 1) is within 53 bits of it where biased_max - biased_min <= 43 - p.
__device__ inline double SquareAnchor(int biased_max) {
  const int b = 2 * biased_max - 252 - 42;
  return PowerOfTwo(52 + b);
}

// Whether a float64 holds the sum of the squares of `kCount` elements of a range exactly. Those
// have kPrecision bits, so squares are multiples of 2^(2 * (smallest exponent - kPrecision + 1)).
template <int kPrecision, uint32_t kCount>
__device__ inline bool SquaresHaveExactSum(const MagnitudeRange& range) {
  constexpr int kSpan = (53 - 2 * kPrecision - std::bit_width(kCount - 1)) / 2;
  return static_cast<int>(range.largest >> 23) -
             static_cast<int>((range.smallest_less_one + 1) >> 23) <=
         kSpan;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WINDOWS_CUH_
