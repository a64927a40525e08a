// A lane keeps sums of rows of floating-point elements in double precision, and lanes of a row are
// joined here. The method: a double holds a float's square, and an addition to a double that is
// greater than all sums of what is added leaves an error that two subtractions tell (Dekker 1971,
// "A floating-point technique for extending the available precision": Fast2Sum). Errors are summed
// too; whether their sum loses anything follows from the range of the elements.
//
// Example, with 4 digits instead of 53 bits, from 1000 on:
//
//   1000 + 1.234 = 1001           error: 1.234 - (1001 - 1000) = 0.234
//   1001 + 2.345 = 1003           error: 2.345 - (1003 - 1001) = 0.345
//   sum: 1003 - 1000 + (0.234 + 0.345) = 3.579
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_ROW_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_ROW_SUMS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/groups/float_survey.cuh"
#include "kernels/cuda/reduce/groups/row_moment_lanes.cuh"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/sums/expansion_sum.h"
#include "kernels/numerics/sums/pair_moments.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cuda {

// A sum beside an anchor: a power of two that is greater than twice any sum of some addends.
class AnchoredPair {
 public:
  __device__ explicit AnchoredPair(double anchor = 0) : anchor_(anchor), high_(anchor) {}

  __device__ void Add(double x) {
    const double next = high_ + x;
    low_ += x - (next - high_);
    high_ = next;
  }
  // The square of what a float holds; of a float64, what is left is rounded.
  __device__ void AddSquare(double x) {
    const double next = fma(x, x, high_);
    low_ += fma(x, x, -(next - high_));
    high_ = next;
  }
  __device__ PairSum Sum() const { return {high_ - anchor_, low_}; }

 private:
  double anchor_;
  double high_;
  double low_ = 0;
};

// The sum of a few elements that lie so near to each other that a double holds it.
class PlainSum {
 public:
  __device__ void Add(double x) { sum_ += x; }
  __device__ PairSum Sum() const { return {sum_, 0}; }

 private:
  double sum_ = 0;
};

// Adds a vector's elements and their squares.
template <class T, class Sum>
__device__ inline void AddVector(const uint4& raw, Sum& sum, AnchoredPair& squares) {
  for (const auto x : BatchOf<T>(raw).values) {
    sum.Add(static_cast<double>(x));
    squares.AddSquare(static_cast<double>(x));
  }
}

// Exponents for which all anchors of float64 are normal numbers.
inline constexpr int kLimitMin = -300;
inline constexpr int kLimitMax = 400;

// Numbers of these bits (MagnitudeBits) are smaller than 2^this: all floats, and float64 in that
// range.
template <class S>
__device__ inline int LimitExponent(uint32_t magnitude) {
  constexpr bool kIsDouble = sizeof(S) == sizeof(double);
  constexpr int kBias = kIsDouble ? 1023 : 127;
  const int limit = static_cast<int>(magnitude >> (kIsDouble ? 20 : 23)) + 1 - kBias;
  return kIsDouble ? min(max(limit, kLimitMin), kLimitMax) : limit;
}

// A lane takes fewer elements of a part of a row than 2^this.
template <class T>
inline constexpr int kPartBits = sizeof(T) == 8   ? 5
                                 : sizeof(T) == 4 ? 6
                                                  : 7;

template <class S>
struct FloatRowTotals {
  PairSum sum;
  PairSum squares;
  S min;
  S max;
  uint32_t smallest_less_one;
  bool has_negative_zero;  // Of float64; of floats, extremes tell.

  __device__ void JoinLanes(const Warp& warp, uint32_t width, uint32_t row_size) {
    if (width == 1) return;
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      min = SurveyedExtreme<false>(min, warp.shfl_xor(min, distance));
      max = SurveyedExtreme<true>(max, warp.shfl_xor(max, distance));
      smallest_less_one = ::min(smallest_less_one, warp.shfl_xor(smallest_less_one, distance));
      if constexpr (kIsDouble) has_negative_zero |= warp.shfl_xor(has_negative_zero, distance);
    }
    // No lane's sum, nor that of all, is larger.
    const int bits = static_cast<int>(std::bit_width(row_size)) + 1;
    const int limit = LimitExponent<S>(Range().largest);
    Anchor(PowerOfTwo(limit + bits), sum);
    Anchor(PowerOfTwo(2 * limit + bits), squares);
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      AddPlain(PairOfLane(warp, sum, distance), sum);
      AddPlain(PairOfLane(warp, squares, distance), squares);
    }
  }
  __device__ MagnitudeRange Range() const {
    return {::max(MagnitudeBits(min), MagnitudeBits(max)), smallest_less_one};
  }
  // Moves what is below the last bit of `anchor` from high to low.
  __device__ static void Anchor(double anchor, PairSum& pair) {
    const double high = (anchor + pair.high) - anchor;
    pair.low += pair.high - high;
    pair.high = high;
  }
  // Joins two sums that have one anchor.
  __device__ static void AddPlain(const PairSum& other, PairSum& pair) {
    pair.high += other.high;
    pair.low += other.low;
  }
  // Whether the first of a row's zeros, one of which is an extreme, may be another than it.
  __device__ bool HasOtherZero() const {
    if constexpr (kIsDouble) {
      return has_negative_zero && (min == 0 || max == 0);
    } else {
      const bool has_negative = min == 0 && __float_as_uint(min) != 0;
      return has_negative || (min < 0 && max == 0 && __float_as_uint(max) == 0);
    }
  }
  // Whether all elements are finite, and their anchors normal numbers.
  __device__ bool AreInRange() const {
    if constexpr (kIsDouble) {
      const double largest = fmax(fabs(min), fabs(max));
      const bool is_in_range =
          largest >= PowerOfTwo(kLimitMin) && largest <= PowerOfTwo(kLimitMax - 1);
      return IsFinite(sum.high) && (largest == 0 || is_in_range);
    } else {
      return Range().largest < __float_as_uint(std::numeric_limits<float>::infinity());
    }
  }

 private:
  static constexpr bool kIsDouble = sizeof(S) == sizeof(double);
};

template <>
struct RowTotals<float> : FloatRowTotals<float> {};
template <>
struct RowTotals<Float16> : FloatRowTotals<float> {};
template <>
struct RowTotals<Bfloat16> : FloatRowTotals<float> {};
template <>
struct RowTotals<double> : FloatRowTotals<double> {};

// Sums of squares, and of floats, are anchored where the elements of a part are.
template <class T>
struct SurveyedRowMoments {
  static constexpr bool kSurveys = true;
  static constexpr bool kHasPlainSums = sizeof(T) < sizeof(float);

  FloatSurvey<T> survey;
  std::conditional_t<kHasPlainSums, PlainSum, AnchoredPair> sum;
  AnchoredPair squares;
  PairSum sum_of_parts{0, 0};
  PairSum squares_of_parts{0, 0};
  bool has_parts = false;

  __device__ void Merge(const PairSum& of_part, PairSum& pair) const {
    if (has_parts) {
      pair.Merge(of_part);
    } else {
      pair = of_part;
    }
  }
  __device__ void AddExtremes(const uint4& raw) { survey.Add(raw); }
  __device__ void BeginSums() {
    const int limit = LimitExponent<ComputeType<T>>(
        ::max(MagnitudeBits(survey.Min()), MagnitudeBits(survey.Max())));
    if constexpr (!kHasPlainSums) sum = AnchoredPair(PowerOfTwo(limit + kPartBits<T> + 1));
    squares = AnchoredPair(PowerOfTwo(2 * limit + kPartBits<T> + 1));
  }
  __device__ void AddSums(const uint4& raw) { AddVector<T>(raw, sum, squares); }
  __device__ void Close() {
    if constexpr (!kHasPlainSums) Merge(sum.Sum(), sum_of_parts);
    Merge(squares.Sum(), squares_of_parts);
    has_parts = true;
  }
  __device__ RowTotals<T> Totals() const {
    bool has_negative_zero = false;
    if constexpr (sizeof(T) == sizeof(double)) has_negative_zero = survey.HasNegativeZero();
    return {{kHasPlainSums ? sum.Sum() : sum_of_parts, squares_of_parts, survey.Min(), survey.Max(),
             survey.SmallestLessOne(), has_negative_zero}};
  }
};

template <>
struct RowMoments<float> : SurveyedRowMoments<float> {};
template <>
struct RowMoments<Bfloat16> : SurveyedRowMoments<Bfloat16> {};
template <>
struct RowMoments<double> : SurveyedRowMoments<double> {};

// All float16 are multiples of 2^-24 below 2^16, so that sums are exact whatever they are of: of a
// lane's elements, fewer than 2^10 (RowMomentTuning::kFloat16RowSizeMax), a double holds the sum,
// and that of squares stays in the anchor's binade. What additions of 30'000 squares leave is at
// most 2^-10 each, and what lanes leave to join 2^-4: together below 2^53 units of 2^-48.
template <>
struct RowMoments<Float16> {
  static constexpr bool kSurveys = false;
  static constexpr double kAnchor = 0x1p43;

  FloatSurvey<Float16> survey;
  PlainSum sum;
  AnchoredPair squares{kAnchor};

  __device__ void AddExtremes(const uint4& raw) { survey.Add(raw); }
  __device__ void AddSums(const uint4& raw) { AddVector<Float16>(raw, sum, squares); }
  __device__ void Close() {}
  __device__ RowTotals<Float16> Totals() const {
    return {{sum.Sum(), squares.Sum(), survey.Min(), survey.Max(), 0, false}};
  }
};

// What is known of a row's moments.
struct FloatRowMoments {
  BoundedNumber sum;
  BoundedNumber squares;
  bool is_known;

  // Moments of `count` elements.
  template <class T>
  __device__ static FloatRowMoments Of(const RowTotals<T>& totals, uint32_t count) {
    FloatRowMoments moments;
    moments.sum = Rounded(totals.sum);
    moments.squares = Rounded(totals.squares);
    moments.is_known = totals.AreInRange();
    if constexpr (!std::is_same_v<T, Float16>) {
      // An addition to an anchored sum leaves at most 2^(kPartBits + 1) times what PairHolds says,
      // and what lanes anchor to join is 2^7 times that of one addition; parts and rows are joined
      // by fewer than these.
      constexpr uint32_t kJoins = sizeof(T) == sizeof(double) ? 96 : 64;
      static_assert(RowMomentTuning::kDoubleRowBytesMax / ExtremeTuning::kTurnBytes + 6 < 96);
      constexpr uint32_t kPartChain = 2u << kPartBits<T>;
      constexpr uint32_t kChain = kPartChain + 128 + kJoins;
      const int span_bits = SpanOf<T>(totals.Range());
      const bool holds_sum = RowMoments<T>::kHasPlainSums
                                 ? span_bits + static_cast<int>(std::bit_width(count)) <=
                                       std::numeric_limits<double>::digits
                                 : PairHolds(span_bits, count, kChain);
      moments.is_known = moments.is_known && holds_sum;
      if (sizeof(T) == sizeof(double) || !PairHolds(2 * span_bits, count, kChain)) {
        // There are so many additions of errors, each of which rounds their sum by at most 2^-53;
        // what a square of float64 leaves is rounded too, by no more.
        const double largest = fmax(fabs(double{totals.min}), fabs(double{totals.max}));
        moments.squares.error =
            static_cast<double>(count) * (kChain * double{kChain}) * 0x1p-102 * largest * largest;
      }
    }
    return moments;
  }

 private:
  __device__ static BoundedNumber Rounded(const PairSum& pair) {
    const SumAndError rounded = SumAndError::Of(pair.high, pair.low);
    return {rounded.sum, rounded.error, 0};
  }
  // Bits from the last of the smallest element to the first of the largest.
  template <class T>
  __device__ static int SpanOf(const MagnitudeRange& range) {
    if constexpr (sizeof(T) == sizeof(double)) {
      if (range.largest == 0) return 0;
      const auto exponent = [](uint32_t magnitude) {
        return max(static_cast<int>(magnitude >> 20), 1);
      };
      return exponent(range.largest) - exponent(range.smallest_less_one + 1) +
             std::numeric_limits<double>::digits;
    } else {
      return SpanBits<T>(range);
    }
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_ROW_SUMS_CUH_
