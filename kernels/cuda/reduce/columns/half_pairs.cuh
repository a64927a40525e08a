// A thread sums its columns of 16-bit floating-point elements in float64.
//
// Integer instructions make the elements float64 (PackedHalves), since conversions are few a clock.
// Elements are so short that a float64 holds the sum of thousands of rows exactly: always of
// float16, of bfloat16 where magnitudes lie within some binades. Such sums go to pairs from time to
// time.
//
// Example: the bits of the float16 1.5 put in place in a float64, ten bits of fraction:
//
//   float16 1.5 = 0x3e00: exponent 15, fraction 0x200
//   the float64 with exponent field 15 and fraction 0x200 << 42 is 1.5 * 2^(15 - 1023)
//   all elements are scaled by that power of two, and so is their sum
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_PAIRS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_PAIRS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cuda {

// Two magnitudes as 16-bit integers that are ordered as these are.
__device__ inline uint32_t OrderedMagnitudes(uint32_t pair) {
  return (pair & 0x7FFF'7FFFu) | 0x8000'8000u;
}
__device__ inline uint32_t LargerHalf(uint32_t pair) { return max(pair >> 16, pair & 0xFFFFu); }

// The range of some vectors of elements; of float16 only its largest magnitude is sought.
template <class T>
class HalfRange {
 public:
  template <uint32_t kCount>
  __device__ static MagnitudeRange Of(const uint4 (&raw)[kCount]) {
    HalfRange range;
#pragma unroll
    for (const uint4& vector : raw) {
      range.Add(vector.x);
      range.Add(vector.y);
      range.Add(vector.z);
      range.Add(vector.w);
    }
    return range.OfFloats();
  }

 private:
  static constexpr bool kHasLeast = std::is_same_v<T, Bfloat16>;
  // Bits of the float of which all float16 elements are multiples.
  static constexpr uint32_t kFloat16Least = (127 - 24) << 23;

  __device__ void Add(uint32_t pair) {
    const uint32_t magnitudes = OrderedMagnitudes(pair);
    largest_ = __vmaxu2(largest_, magnitudes);
    // One less than a zero is the largest of signed numbers.
    if constexpr (kHasLeast) least_less_one_ = __vmins2(least_less_one_, magnitudes - 0x0001'0001u);
  }
  __device__ MagnitudeRange OfFloats() const {
    const uint32_t largest = LargerHalf(largest_) & 0x7FFF;
    if constexpr (kHasLeast) {
      const int less_one = min(static_cast<int>(least_less_one_) >> 16,
                               static_cast<int>(least_less_one_ << 16) >> 16);
      return {largest << 16, (static_cast<uint32_t>(less_one + 1) << 17 >> 1) - 1};
    } else {
      const float magnitude = ToCompute(Float16{static_cast<uint16_t>(largest)});
      return {__float_as_uint(magnitude), kFloat16Least - 1};
    }
  }

  uint32_t largest_ = 0;
  uint32_t least_less_one_ = 0x7FFF'7FFFu;
};

// What a thread has of its columns.
template <class T>
class HalfColumnPairs {
 public:
  static constexpr uint32_t kSize = kVectorSize<T>;
  PairSum pairs[kSize];  // After Close().
  MagnitudeRange range;  // Of all columns.

  // Adds rows as ColumnPairs::Add does.
  template <uint32_t kRows>
  __device__ bool Add(const uint4 (&raw)[kRows], uint64_t count, uint64_t chain) {
    const MagnitudeRange of_rows = HalfRange<T>::Of(raw);
    range.Merge(of_rows);
    if (!MakeRoom(kRows, of_rows)) {
      if (!PairHolds(SpanBits<T>(range), count, chain)) return false;
      ForEach(raw, [&](uint32_t k, double x) { pairs[k].Add(x * kUnscaled); });
      return true;
    }
    ForEach(raw, [&](uint32_t k, double x) { sums_[k] += x; });
    return true;
  }
  __device__ void AddOne(uint32_t k, float x) {
    range.Add(MagnitudeBits(x));
    pairs[k].Add(x);
  }
  // Brings everything into the pairs.
  __device__ void Close() {
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      pairs[k].Add(sums_[k] * kUnscaled);
      sums_[k] = -0.0;
    }
  }

 private:
  using Packed = PackedHalves<T>;
  static constexpr double kUnscaled = std::is_same_v<T, Bfloat16> ? 0x1p896 : 0x1p1008;
  static_assert(Packed::kScale == (std::is_same_v<T, Bfloat16> ? -896 : -1008));
  static constexpr uint32_t kRowsMax = 4096;  // Of sums.

  // Whether the sums hold so many more rows of a range, being closed if that helps.
  __device__ bool MakeRoom(uint32_t rows, const MagnitudeRange& of_rows) {
    MagnitudeRange all = of_rows;
    all.Merge(sums_range_);
    rows_ += rows;
    sums_range_ = all;
    if (rows_ <= kRowsMax && SumsHold(all)) return true;
    Close();
    rows_ = rows;
    sums_range_ = of_rows;
    return SumsHold(of_rows);
  }
  __device__ static bool SumsHold(const MagnitudeRange& range) {
    return std::is_same_v<T, Float16> || DoubleHolds<kRowsMax, T>(range);
  }

  // Calls f(k, x as float64 has it in PackedHalves) for the elements of each k-th column.
  template <uint32_t kRows, class F>
  __device__ static void ForEach(const uint4 (&raw)[kRows], F f) {
#pragma unroll
    for (const uint4& vector : raw) {
      const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        f(2 * i, Packed::Lower(words[i]));
        f(2 * i + 1, Packed::Upper(words[i]));
      }
    }
  }

  double sums_[kSize] = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};
  MagnitudeRange sums_range_;
  uint32_t rows_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_PAIRS_CUH_
