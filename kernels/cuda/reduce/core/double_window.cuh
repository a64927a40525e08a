// A thread keeps sums of float64 elements, magnitudes and squares in a window (windows.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_DOUBLE_WINDOW_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_DOUBLE_WINDOW_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cuda {

// A sum in a window of float64. With n = 2^10 additions, biased exponents B of elements that are
// not 0 from `biased_max` - s to `biased_max`, and E = biased_max - 1022, past the largest's
// exponent: elements are below 2^E and multiples of 2^(E - 53 - s). They are split at 2^b with b =
// E - 41, so that n 2^E <= 2^(51 + b), half of the binade of the anchor to either side, with which
// `high` begins: it is rounded as the anchor is. The lower parts are at most 2^(b - 1), and their
// sum 2^(E - 32): within 53 bits where s <= 32.
struct AnchoredSum {
  double high = 0;
  double low = 0;

  __device__ static double Anchor(int exponent) { return 1.5 * PowerOfTwo(52 + exponent - 41); }
  __device__ explicit AnchoredSum(int exponent) : high(Anchor(exponent)) {}
  AnchoredSum() = default;

  __device__ void Add(double x) {
    const double sum = high + x;
    low += x - (sum - high);
    high = sum;
  }
  template <class F>
  __device__ void ForEachAddend(int exponent, F f) const {
    f(high - Anchor(exponent));
    f(low);
  }
};

// Squares are at most 2^P with P = 2 E, and multiples of the unit, 2^(P - 106 - 2 s). `high` is the
// sum of what is above 2^(P - 42) of them, rounded as its anchor is, in whose binade n 2^P is.
// `low` is that of the rest, which is at most 2^(P - 43) each, rounded: the n rests by 2^(P - 96),
// and n partial sums of up to 2^(P - 33) by 2^(P - 86). All of that is below 2^(P - 75), which is
// less than 2^63 units where s <= 15. So the sum is what is known of it modulo 2^64 units, and
// nearest to high + low.
class SquareSum64 {
 public:
  static constexpr int kSpan = 15;  // s.

  SquareSum64() = default;
  __device__ explicit SquareSum64(int exponent) : high_(Anchor(exponent)) {}

  // `exponent`: E.
  __device__ void Add(double x, int exponent) {
    const double sum = fma(x, x, high_);
    low_ += fma(x, x, high_ - sum);
    high_ = sum;
    // The square of the significand, in units of the least binade's. Of 0 it is a multiple of
    // 2^104, which is 0 too.
    const uint32_t bits = static_cast<uint32_t>(__double2hiint(x));
    const uint32_t lower = static_cast<uint32_t>(__double2loint(x));
    const uint32_t upper = (bits & 0xF'FFFF) | 0x10'0000;
    // Modulo 32, so that the sign does not matter.
    const uint32_t binades = (bits >> 20) - static_cast<uint32_t>(LeastBiased(exponent));
    const uint32_t shifted = __funnelshift_l(0, lower, binades);
    lower_squares_ += uint64_t{shifted} * shifted;
    products_ += shifted * __funnelshift_l(lower, upper, binades);
  }
  // Calls f(addend): the addends' sum is that of the squares.
  template <class F>
  __device__ void ForEachAddend(int exponent, F f) const {
    const int unit = 2 * (LeastBiased(exponent) - 1075);
    const uint64_t units = lower_squares_ + (uint64_t{2 * products_} << 32);
    const int64_t rest = static_cast<int64_t>(units - UnitsOf(low_, unit));
    f(high_ - Anchor(exponent));  // 0 modulo 2^64 units.
    f(low_);
    f(static_cast<double>(static_cast<int32_t>(rest >> 32)) * PowerOfTwo(unit + 32));
    f(static_cast<double>(static_cast<uint32_t>(rest)) * PowerOfTwo(unit));
  }

 private:
  __device__ static double Anchor(int exponent) { return PowerOfTwo(52 + 2 * exponent - 42); }
  __device__ static int LeastBiased(int exponent) { return exponent + 1022 - kSpan; }
  // x, a multiple of 2^unit, in such units modulo 2^64.
  __device__ static uint64_t UnitsOf(double x, int unit) {
    const DecomposedFloat d = Decompose(x);
    const int shift = static_cast<int>(d.position) + FloatFormat<double>::kLowestExponent - unit;
    if (shift >= 64) return 0;
    const uint64_t magnitude = shift >= 0 ? d.significand << shift : d.significand >> -shift;
    return d.negative ? ~magnitude + 1 : magnitude;
  }

  double high_ = 0;
  double low_ = 0;
  // Modulo 2^64 and 2^32: of significands in halves, the squares of the lower ones, and the
  // products of both. Those of the upper ones are 0 modulo 2^64.
  uint64_t lower_squares_ = 0;
  uint32_t products_ = 0;
};

// The unit of squares is a normal number, and their sum stays finite, where biased_max lies between
// the limits of WindowBounds.
template <uint32_t kParts>
class DoubleWindow {
 public:
  static constexpr bool kHasSum = (kParts & kSumPart) != 0;
  static constexpr bool kHasSquares = (kParts & kSquaresPart) != 0;
  static constexpr bool kHasMagnitudes = (kParts & kMagnitudesPart) != 0;
  using Bounds = WindowBounds<double, kHasSquares>;
  static_assert(!kHasSquares || Bounds::kSpan == SquareSum64::kSpan);
  static constexpr uint32_t kAddendsMax = kHasSquares ? 4 : 2;  // Of one moment.

  __device__ const Bounds& bounds() const { return bounds_; }

  // Requires that the bounds take x.
  __device__ void Add(double x) {
    if constexpr (kHasSum) sum_.Add(x);
    if constexpr (kHasMagnitudes) magnitudes_.Add(fabs(x));
    if constexpr (kHasSquares) squares_.Add(x, Exponent());
  }

  // Forgets what was added.
  __device__ void Clear(const Bounds& bounds) {
    bounds_ = bounds;
    if constexpr (kHasSum) sum_ = AnchoredSum(Exponent());
    if constexpr (kHasMagnitudes) magnitudes_ = AnchoredSum(Exponent());
    if constexpr (kHasSquares) squares_ = SquareSum64(Exponent());
  }

  // Calls f(part, addend), a moment's part being a PartSet, for numbers that are not 0 and whose
  // sums are the moments of what was added.
  template <class F>
  __device__ void ForEachAddend(F f) const {
    if (!bounds_.HoldsNumbers()) return;  // Zeros were added to sums that have no anchor.
    const auto visit = [&](auto part, const auto& sum) {
      sum.ForEachAddend(Exponent(), [&](double addend) {
        if (addend != 0) f(part, addend);
      });
    };
    if constexpr (kHasSum) visit(PartSet<kSumPart>{}, sum_);
    if constexpr (kHasMagnitudes) visit(PartSet<kMagnitudesPart>{}, magnitudes_);
    if constexpr (kHasSquares) visit(PartSet<kSquaresPart>{}, squares_);
  }

 private:
  struct Nothing {};
  // E of the comments above.
  __device__ int Exponent() const { return bounds_.BiasedMax() - 1022; }

  Bounds bounds_;
  AnchoredSum sum_;
  std::conditional_t<kHasMagnitudes, AnchoredSum, Nothing> magnitudes_;
  std::conditional_t<kHasSquares, SquareSum64, Nothing> squares_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_DOUBLE_WINDOW_CUH_
