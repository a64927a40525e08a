// The state of a group of floating-point elements that are multiples of one unit, and of so few
// bits that the sum in units fits 64 bits and the sum of squares 128: all that the values of its
// statistics take are some operations on integers. Nearly all short groups are such.
//
// It has the parts of ReductionState with kCorePartSet, for numerics/statistics/statistic_value.h.
// Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_FIXED_POINT_STATE_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_FIXED_POINT_STATE_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// x * 2^exponent / divisor. Requires a divisor from 1 to 2^53.
GRIDFOLD_HD inline LeadingBits LeadingQuotient(Uint128 x, int exponent, uint64_t divisor) {
  if (x == 0) return {};
  const int empty = 2 * kLimbBits - BitLength(x);
  x <<= empty;
  const LimbDivisor by(divisor);
  uint64_t rest = 0;
  const uint64_t high = by.Divide(rest, static_cast<uint64_t>(x >> kLimbBits));
  const uint64_t middle = by.Divide(rest, static_cast<uint64_t>(x));
  const uint64_t low = by.Divide(rest, 0);
  const int shift = LeadingZeros(high);  // At most 53: the first bit of x is set.
  Uint128 bits = (Uint128{high} << kLimbBits) | middle;
  if (shift > 0) bits = (bits << shift) | (low >> (kLimbBits - shift));
  return {bits, exponent - empty - shift, rest != 0 || (low << shift) != 0};
}

// A quotient as a sum of two float64 of which the second is at most some units of the first's last
// bit, times 2^exponent. It is right to some 100 bits, which nearly always tell how it is rounded.
struct EstimatedQuotient {
  double high;
  double low;
  int exponent;
  bool is_exact;

  // The estimated quotient x * 2^exponent / divisor. Requires an x other than 0, and a divisor from
  // 1 to 2^53.
  GRIDFOLD_HD static EstimatedQuotient Of(Uint128 x, int exponent, uint64_t divisor) {
    constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
    constexpr uint64_t kOne = uint64_t{1023} << 52;
    constexpr uint64_t kUlp = uint64_t{1023 - 52} << 52;
    const int empty = 2 * kLimbBits - BitLength(x);
    x <<= empty;
    // The leading 53 bits, from 1 to 2, and the 52 after them.
    const uint64_t upper = static_cast<uint64_t>(x >> kLimbBits);
    const double leading = std::bit_cast<double>(kOne | (upper >> 11 & kFraction));
    const double rest =
        std::bit_cast<double>(kUlp | (static_cast<uint64_t>(x >> 23) & kFraction)) - 0x1p-52;
    const double by = static_cast<double>(divisor);
    const double inverse = 1 / by;
    const double high = leading * inverse;
    const double low = (MultiplyAdd(-high, by, leading) + rest) * inverse;
    const bool is_exact = (divisor & (divisor - 1)) == 0 && (static_cast<uint32_t>(x) << 9) == 0;
    return {high, low, exponent + 2 * kLimbBits - 1 - empty, is_exact};
  }

  GRIDFOLD_HD EstimatedQuotient Root() const {
    const double scale = exponent % 2 == 0 ? 1 : 2;
    const double square = high * scale;
    const double root = sqrt(square);
    const double error = MultiplyAdd(-root, root, square) + low * scale;
    return {root, error / (2 * root), (exponent - (exponent % 2 == 0 ? 0 : 1)) / 2, false};
  }

  // Whether it tells; the number is then *rounded. Requires one that is normal.
  GRIDFOLD_HD bool Round(double* rounded) const {
    const double error = is_exact ? 0 : fabs(low) * 0x1p-44;
    *rounded = (high + low) * std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
    return high + (low - error) == high + (low + error);
  }

 private:
  GRIDFOLD_HD static double MultiplyAdd(double a, double b, double c) {
#ifdef __CUDA_ARCH__
    return __fma_rn(a, b, c);
#else
    return std::fma(a, b, c);
#endif
  }
};

// What follows, by integers alone.
GRIDFOLD_HD_APART inline double ExactlyRoundedQuotient(Uint128 x, int exponent, uint64_t divisor,
                                                       bool is_root) {
  const LeadingBits quotient = LeadingQuotient(x, exponent, divisor);
  return RoundToDouble(is_root ? SquareRoot(quotient) : quotient);
}

// x * 2^exponent / divisor, or the square root of that, rounded once. Requires a divisor from 1 to
// 2^53, and a result that is normal.
GRIDFOLD_HD inline double RoundedQuotient(Uint128 x, int exponent, uint64_t divisor,
                                          bool is_root = false) {
  if (x == 0) return 0;
  const EstimatedQuotient estimate = EstimatedQuotient::Of(x, exponent, divisor);
  double rounded;
  if ((is_root ? estimate.Root() : estimate).Round(&rounded)) return rounded;
  return ExactlyRoundedQuotient(x, exponent, divisor, is_root);
}

// Units are 2^exponent, a multiple of the smallest float32.
struct FixedPointSum {
  int64_t units;
  int exponent;
  bool is_negative_zero;  // A sum of nothing but negative zeros, or of nothing.

  GRIDFOLD_HD uint64_t Magnitude() const {
    return units < 0 ? uint64_t{0} - static_cast<uint64_t>(units) : static_cast<uint64_t>(units);
  }
  GRIDFOLD_HD double Rounded() const {
    if (units == 0) return is_negative_zero ? -0.0 : 0.0;
    return static_cast<double>(units) * Unit();
  }
  // Requires a divisor below 2^53.
  GRIDFOLD_HD double Quotient(uint64_t divisor) const {
    constexpr uint64_t kDoubleMax = uint64_t{1} << 53;
    if (Magnitude() <= kDoubleMax) return Rounded() / static_cast<double>(divisor);
    const double rounded = RoundedQuotient(Magnitude(), exponent, divisor);
    return units < 0 ? -rounded : rounded;
  }

 private:
  GRIDFOLD_HD double Unit() const {
    constexpr int kBias = 1023;
    return std::bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << 52);
  }
};

// A sum of squares of such elements, in units of 2^exponent.
struct FixedPointSquares {
  Uint128 units;
  int exponent;
};

// Parts of a state that have them.
struct FixedPointSumPart {
  FixedPointSum sum;
};
struct FixedPointSquaresPart {
  FixedPointSquares sum;
};

template <class T>
class FixedPointState {
 public:
  using Element = T;
  static constexpr uint32_t kParts = kCorePartSet;
  Uint128 squares = 0;  // In units of 4^exponent.
  int64_t sum = 0;      // In units of 2^exponent.
  int exponent = 0;
  float min = 0;
  float max = 0;
  uint32_t min_index = kNone;
  uint32_t max_index = kNone;
  uint32_t nonzero = 0;
  uint32_t nan = 0;
  bool sums_negative_zeros = true;  // And nothing else.

  static constexpr uint32_t kNone = ~uint32_t{0};

  // Whether it holds `count` elements of up to `bits` bits.
  GRIDFOLD_HD static constexpr bool Holds(int bits, uint32_t count) {
    return bits + static_cast<int>(std::bit_width(count)) <= 63;
  }

  template <uint32_t kPart>
  GRIDFOLD_HD auto Part() const {
    if constexpr (kPart == kSumPart) {
      return FixedPointSumPart{{sum, exponent, sums_negative_zeros}};
    } else if constexpr (kPart == kSquaresPart) {
      return FixedPointSquaresPart{{squares, 2 * exponent}};
    } else if constexpr (kPart == kExtremesPart) {
      return ExtremesState<float>{{min, Index(min_index)}, {max, Index(max_index)}};
    } else {
      static_assert(kPart == kTallyPart);
      return TallyState<float>{nonzero, nan, 0};
    }
  }

  // The state in the form that other kernels have.
  GRIDFOLD_HD ReductionState<T, kParts> Expanded() const {
    ReductionState<T, kParts> state;
    auto& exact_sum = state.template Part<kSumPart>().sum;
    auto& exact_squares = state.template Part<kSquaresPart>().sum;
    const bool has_any = min_index != kNone;
    exact_sum.AddFlags(sums_negative_zeros ? 0 : kSawOtherThanNegativeZero);
    exact_squares.AddFlags(has_any ? kSawOtherThanNegativeZero : 0);
    AddUnits(exact_sum, Part<kSumPart>().sum.Magnitude(), exponent, sum < 0);
    AddUnits(exact_squares, squares, 2 * exponent, false);
    state.template Part<kExtremesPart>() = Part<kExtremesPart>();
    state.template Part<kTallyPart>() = Part<kTallyPart>();
    return state;
  }

 private:
  GRIDFOLD_HD static uint64_t Index(uint32_t index) { return index == kNone ? kNoIndex : index; }

  template <class Sum>
  GRIDFOLD_HD static void AddUnits(Sum& sum, Uint128 units, int exponent, bool negative) {
    if (units != 0) {
      sum.AddInteger(units, static_cast<uint32_t>(exponent - Sum::kLowestExponent), negative);
    }
  }
};

namespace statistic_internal {

GRIDFOLD_HD inline double Root(const FixedPointSquaresPart& squares, uint64_t divisor) {
  return RoundedQuotient(squares.sum.units, squares.sum.exponent, divisor, true);
}

// x * 2^exponent / (divisor * second_divisor), or the square root of that, by integers alone: of
// divisors whose product is above 2^53.
GRIDFOLD_HD_APART inline double ExactlyRounded(Uint128 x, int exponent, uint64_t divisor,
                                               uint64_t second_divisor, bool is_root) {
  const uint64_t limbs[2] = {static_cast<uint64_t>(x), static_cast<uint64_t>(x >> kLimbBits)};
  const LeadingBits quotient =
      LeadingQuotient(LimbMagnitude::OfUnsigned(limbs, 2), exponent, divisor, second_divisor);
  return RoundToDouble(is_root ? SquareRoot(quotient) : quotient);
}

// The variance, as of other states. Requires at most 2^26 elements.
GRIDFOLD_HD inline double Variance(const FixedPointSumPart& sum,
                                   const FixedPointSquaresPart& squares, uint64_t count,
                                   uint64_t ddof, uint64_t divisor, bool is_root) {
  constexpr uint64_t kDivisorMax = uint64_t{1} << 53;
  // The square of the sum of all magnitudes, which is below 2^126, is above either.
  const uint64_t magnitude = sum.sum.Magnitude();
  const Uint128 deviations = squares.sum.units * count - Uint128{magnitude} * magnitude;
  const uint64_t of_variance = count * (count - ddof);
  const Uint128 of_all = Uint128{of_variance} * divisor;
  if (of_all > kDivisorMax) {
    return ExactlyRounded(deviations, squares.sum.exponent, of_variance, divisor, is_root);
  }
  return RoundedQuotient(deviations, squares.sum.exponent, static_cast<uint64_t>(of_all), is_root);
}

}  // namespace statistic_internal

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_FIXED_POINT_STATE_H_
