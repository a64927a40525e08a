// What lanes keep of rows of floats and halves, and how lanes of a row are joined. Sums are kept in
// double precision, which is the whole trick: a double holds a float's square, and additions to one
// that is greater than all sums of some of them leave an error that takes two subtractions to tell
// (Dekker 1971, "A floating-point technique for extending the available precision": Fast2Sum). What
// is lost of the errors' sum, if anything, follows from the range of the elements.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_FLOAT_ROW_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_FLOAT_ROW_SUMS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_row_moment_lanes.cuh"
#include "kernels/cuda/reduce_windows.cuh"
#include "kernels/cuda/reduce_words.cuh"
#include "kernels/numerics/element.h"
#include "kernels/numerics/pair_moments.h"
#include "kernels/numerics/pair_sum.h"

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
  // The square of what a float holds.
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

// Extremes, of which -0.0 is less than 0.0, and NaN where there is one.
__device__ inline float LeastOf(float x, float y) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(x), "f"(y));
  return least;
}
__device__ inline float GreatestOf(float x, float y) {
  float greatest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(x), "f"(y));
  return greatest;
}
// Of two pairs of halves.
template <class T>
__device__ inline uint32_t LeastOfHalves(uint32_t x, uint32_t y) {
  uint32_t least;
  if constexpr (std::is_same_v<T, Float16>) {
    asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(least) : "r"(x), "r"(y));
  } else {
    asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(least) : "r"(x), "r"(y));
  }
  return least;
}
template <class T>
__device__ inline uint32_t GreatestOfHalves(uint32_t x, uint32_t y) {
  uint32_t greatest;
  if constexpr (std::is_same_v<T, Float16>) {
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(greatest) : "r"(x), "r"(y));
  } else {
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(greatest) : "r"(x), "r"(y));
  }
  return greatest;
}

// What is known of elements besides their sums.
template <class T>
class FloatSurvey {
 public:
  __device__ void Add(const uint4& raw) {
    if constexpr (sizeof(T) == sizeof(float)) {
      for (const float x : BatchOf<T>(raw).values) {
        min_ = LeastOf(min_, x);
        max_ = GreatestOf(max_, x);
        smallest_less_one_ = min(smallest_less_one_, MagnitudeBits(x) - 1);
      }
    } else {
      for (const uint32_t pair : {raw.x, raw.y, raw.z, raw.w}) {
        min_ = LeastOfHalves<T>(min_, pair);
        max_ = GreatestOfHalves<T>(max_, pair);
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
      return ToFloat(LeastOfHalves<T>(min_, min_ >> 16));
    }
  }
  __device__ float Max() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return max_;
    } else {
      return ToFloat(GreatestOfHalves<T>(max_, max_ >> 16));
    }
  }
  // As MagnitudeRange has it; of float16 nothing is known.
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

// The least power of two that is greater than a float of these bits is 2^this, or a smaller one.
__device__ inline int LimitExponent(uint32_t magnitude) {
  constexpr int kBias = 127;
  return static_cast<int>(magnitude >> 23) + 1 - kBias;
}

// A lane takes fewer elements of a part of a row than 2^this.
template <class T>
inline constexpr int kPartBits = sizeof(T) == sizeof(float) ? 6 : 7;

// Of elements of one of these types.
struct FloatRowTotals {
  PairSum sum;
  PairSum squares;
  float min;
  float max;
  uint32_t smallest_less_one;

  __device__ void JoinLanes(const Warp& warp, uint32_t width, uint32_t row_size) {
    if (width == 1) return;
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      min = LeastOf(min, warp.shfl_xor(min, distance));
      max = GreatestOf(max, warp.shfl_xor(max, distance));
      smallest_less_one = ::min(smallest_less_one, warp.shfl_xor(smallest_less_one, distance));
    }
    // No lane's sum, nor that of all, is larger.
    const int bits = static_cast<int>(std::bit_width(row_size)) + 1;
    const int limit = LimitExponent(Range().largest);
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
  __device__ bool IsFinite() const {
    return Range().largest < __float_as_uint(std::numeric_limits<float>::infinity());
  }
  // Moves what is below the last bit of `anchor` from high to low.
  __device__ static void Anchor(double anchor, PairSum& pair) {
    const double high = (anchor + pair.high) - anchor;
    pair.low += pair.high - high;
    pair.high = high;
  }
  // Of two that have the same anchor.
  __device__ static void AddPlain(const PairSum& other, PairSum& pair) {
    pair.high += other.high;
    pair.low += other.low;
  }
  // Whether the first of a row's zeros, one of which is an extreme, may be another than it.
  __device__ bool HasOtherZero() const {
    const bool has_negative = min == 0 && __float_as_uint(min) != 0;
    return has_negative || (min < 0 && max == 0 && __float_as_uint(max) == 0);
  }
};

template <>
struct RowTotals<float> : FloatRowTotals {};
template <>
struct RowTotals<Float16> : FloatRowTotals {};
template <>
struct RowTotals<Bfloat16> : FloatRowTotals {};

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
    const int limit =
        LimitExponent(::max(MagnitudeBits(survey.Min()), MagnitudeBits(survey.Max())));
    if constexpr (!kHasPlainSums) sum = AnchoredPair(PowerOfTwo(limit + kPartBits<T> + 1));
    squares = AnchoredPair(PowerOfTwo(2 * limit + kPartBits<T> + 1));
  }
  __device__ void AddSums(const uint4& raw) {
    for (const float x : BatchOf<T>(raw).values) {
      sum.Add(static_cast<double>(x));
      squares.AddSquare(static_cast<double>(x));
    }
  }
  __device__ void Close() {
    if constexpr (!kHasPlainSums) Merge(sum.Sum(), sum_of_parts);
    Merge(squares.Sum(), squares_of_parts);
    has_parts = true;
  }
  __device__ RowTotals<T> Totals() const {
    return {{kHasPlainSums ? sum.Sum() : sum_of_parts, squares_of_parts, survey.Min(), survey.Max(),
             survey.SmallestLessOne()}};
  }
};

template <>
struct RowMoments<float> : SurveyedRowMoments<float> {};
template <>
struct RowMoments<Bfloat16> : SurveyedRowMoments<Bfloat16> {};

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
  __device__ void AddSums(const uint4& raw) {
    for (const float x : BatchOf<Float16>(raw).values) {
      sum.Add(static_cast<double>(x));
      squares.AddSquare(static_cast<double>(x));
    }
  }
  __device__ void Close() {}
  __device__ RowTotals<Float16> Totals() const {
    return {{sum.Sum(), squares.Sum(), survey.Min(), survey.Max(), 0}};
  }
};

// What is known of a row's moments.
struct FloatRowMoments {
  BoundedNumber sum;
  BoundedNumber squares;
  bool is_known;

  // Of `count` elements.
  template <class T>
  __device__ static FloatRowMoments Of(const RowTotals<T>& totals, uint32_t count) {
    FloatRowMoments moments;
    moments.sum = Rounded(totals.sum);
    moments.squares = Rounded(totals.squares);
    if constexpr (std::is_same_v<T, Float16>) {
      moments.is_known = totals.IsFinite();
    } else {
      // An addition to an anchored sum leaves at most 2^(kPartBits + 1) times what PairHolds says,
      // and what lanes anchor to join is 2^7 times that of one addition.
      constexpr uint32_t kChain = (2u << kPartBits<T>)+128 + 64;
      const MagnitudeRange range = totals.Range();
      const int span_bits = SpanBits<T>(range);
      moments.is_known = RowMoments<T>::kHasPlainSums
                             ? span_bits + static_cast<int>(std::bit_width(count)) <=
                                   std::numeric_limits<double>::digits
                             : PairHolds(span_bits, count, kChain);
      if (!PairHolds(2 * span_bits, count, kChain)) {
        // So many additions of errors, whose sum each rounds by at most 2^-53.
        const double largest = static_cast<double>(__uint_as_float(range.largest));
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
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_FLOAT_ROW_SUMS_CUH_
