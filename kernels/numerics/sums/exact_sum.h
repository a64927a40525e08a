// Exact sums of floating-point numbers: nothing is rounded until the end, and then once.
//
// The sum is kept as one long integer in units of the smallest number of the format, wide enough
// for the largest number and 2^63 addends. Integers add associatively and commutatively, so neither
// order nor chunks nor engine can change a bit of it (Kulisch's long accumulator; Neal 2015, "Fast
// exact summation using small and large superaccumulators"; Collange, Defour, Graillat, Iakymchuk
// 2014, "Full-speed deterministic bit-accurate parallel floating-point summation"; Ahrens, Demmel,
// Nguyen 2020, "Algorithms for efficient reproducible floating point summation").
//
//   ExactSum<F, kPower>  the sum in canonical form: two's complement, 64-bit limbs. Equal sums have
//                        equal bits. F is float or double, float for both 16-bit formats too, whose
//                        values are floats. kPower is 1 for sums of numbers, 2 for sums of products
//                        of two.
//   ForEachDigit         the same number as signed digits 32 bits apart, without carries: an addend
//                        touches two to five digits, wherever they are kept. For adding many.
//
// Infinities, NaN and negative zeros are kept beside the number, by flags that are merged by OR.
// Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SUMS_EXACT_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_SUMS_EXACT_SUM_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// Every finite number of the format is an integer of `kPrecision` bits, times a power of two that
// is at least 2^kLowestExponent; all are below 2^kExponentLimit.
template <std::floating_point F>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int kPrecision = 24;
  static constexpr int kLowestExponent = -149;
  static constexpr int kExponentLimit = 128;
};
template <>
struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int kPrecision = 53;
  static constexpr int kLowestExponent = -1074;
  static constexpr int kExponentLimit = 1024;
};

// A finite number: +-significand * 2^(kLowestExponent + position).
struct DecomposedFloat {
  uint64_t significand;
  uint32_t position;
  bool negative;
};

template <std::floating_point F>
GRIDFOLD_HD inline DecomposedFloat Decompose(F x) {
  using Format = FloatFormat<F>;
  using Bits = typename Format::Bits;
  constexpr int kFractionBits = Format::kPrecision - 1;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits bits = std::bit_cast<Bits>(x);
  const uint32_t biased = static_cast<uint32_t>((bits & ~kSign) >> kFractionBits);
  const Bits fraction = bits & ((Bits{1} << kFractionBits) - 1);
  // Subnormal numbers have the exponent of the smallest normal ones, without the leading bit.
  const bool normal = biased != 0;
  return {fraction | (normal ? Bits{1} << kFractionBits : 0), normal ? biased - 1 : 0,
          (bits & kSign) != 0};
}

// What a sum has seen besides finite numbers. Merged by OR.
inline constexpr uint32_t kSawPositiveInfinity = 1;
inline constexpr uint32_t kSawNegativeInfinity = 2;
inline constexpr uint32_t kSawNan = 3;  // Which is also what infinities of both signs give.
inline constexpr uint32_t kSawOtherThanNegativeZero = 4;

// The flags of one addend.
template <std::floating_point F>
GRIDFOLD_HD inline uint32_t ExactSumFlagsOf(F x) {
  using Bits = typename FloatFormat<F>::Bits;
  constexpr F kInfinity = std::numeric_limits<F>::infinity();
  constexpr Bits kNegativeZero = std::bit_cast<Bits>(F{-0.0});
  uint32_t flags = std::bit_cast<Bits>(x) == kNegativeZero ? 0 : kSawOtherThanNegativeZero;
  if (x != x || x == kInfinity) flags |= kSawPositiveInfinity;
  if (x != x || x == -kInfinity) flags |= kSawNegativeInfinity;
  return flags;
}

template <std::floating_point F, int kPower>
class ExactSum {
 public:
  using Format = FloatFormat<F>;
  static constexpr int kLowestExponent = kPower * Format::kLowestExponent;
  // The sign and 2^63 addends take 64 bits.
  static constexpr int kBits = kPower * (Format::kExponentLimit - Format::kLowestExponent) + 64;
  static constexpr int kLimbs = (kBits + kLimbBits - 1) / kLimbBits;

  // Adds x; of any kind. A sum of numbers.
  GRIDFOLD_HD void Add(F x) requires(kPower == 1) {
    flags_ |= ExactSumFlagsOf(x);
    if ((flags_ & kSawNan) != 0) return DropNumber();
    const DecomposedFloat d = Decompose(x);
    AddInteger(d.significand, d.position, d.negative);
  }

  // Adds x * y without rounding it.
  GRIDFOLD_HD void AddProduct(F x, F y) requires(kPower == 2) {
    if (IsFinite(static_cast<double>(x)) && IsFinite(static_cast<double>(y))) {
      const bool is_negative_zero = (x == 0 || y == 0) && IsSigned(x) != IsSigned(y);
      flags_ |= is_negative_zero ? 0 : kSawOtherThanNegativeZero;
      if ((flags_ & kSawNan) != 0) return;
      const DecomposedFloat a = Decompose(x);
      const DecomposedFloat b = Decompose(y);
      AddInteger(Uint128{a.significand} * b.significand, a.position + b.position,
                 a.negative != b.negative);
    } else {
      flags_ |= ExactSumFlagsOf(x * y);
      DropNumber();
    }
  }
  GRIDFOLD_HD void AddSquare(F x) requires(kPower == 2) { AddProduct(x, x); }

  // Adds +-magnitude * 2^(kLowestExponent + position). `magnitude` has at most 127 bits.
  GRIDFOLD_HD void AddInteger(Uint128 magnitude, uint32_t position, bool negative) {
    const int first = static_cast<int>(position / kLimbBits);
    const int shift = static_cast<int>(position % kLimbBits);
    const Uint128 low = magnitude << shift;
    // In two steps, since a shift by 128 is not defined.
    const Uint128 high = (magnitude >> (kLimbBits - shift)) >> kLimbBits;
    if (negative) {
      SubtractAt(limbs_, kLimbs, first, low);
      SubtractAt(limbs_, kLimbs, first + 2, high);
    } else {
      AddAt(limbs_, kLimbs, first, low);
      AddAt(limbs_, kLimbs, first + 2, high);
    }
  }

  // Adds what a bank of digits holds: digit i counts in units of 2^(kLowestExponent + 32 * i).
  // `digit(i)` gives it, for i below kDigits.
  static constexpr int kDigitBits = 32;
  static constexpr int kDigits = 2 * kLimbs;
  template <class DigitAt>
  GRIDFOLD_HD void AddDigits(DigitAt digit) {
    if ((flags_ & kSawNan) != 0) return;
    int64_t carry = 0;  // Of digits and limbs so far; the digits' sums are below 2^62.
    GRIDFOLD_ROLLED
    for (int limb = 0; limb < kLimbs; ++limb) {
      const Int128 sum = Int128{digit(2 * limb)} + (Int128{digit(2 * limb + 1)} << kDigitBits) +
                         limbs_[limb] + carry;
      limbs_[limb] = static_cast<uint64_t>(sum);
      carry = static_cast<int64_t>(sum >> kLimbBits);
    }
  }

  GRIDFOLD_HD void AddFlags(uint32_t flags) {
    flags_ |= flags;
    if ((flags_ & kSawNan) != 0) DropNumber();
  }

  GRIDFOLD_HD void Merge(const ExactSum& other) {
    AddFlags(other.flags_);
    if ((flags_ & kSawNan) == 0) AddLimbs(limbs_, other.limbs_, kLimbs);
  }

  // Bits kSaw... Where an infinity or NaN was seen, the number is 0.
  GRIDFOLD_HD uint32_t flags() const { return flags_; }
  GRIDFOLD_HD bool is_finite() const { return (flags_ & kSawNan) == 0; }
  // What stands for the sum where it is not finite.
  GRIDFOLD_HD double NotFiniteValue() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if ((flags_ & kSawNan) == kSawPositiveInfinity) return kInfinity;
    if ((flags_ & kSawNan) == kSawNegativeInfinity) return -kInfinity;
    return std::numeric_limits<double>::quiet_NaN();
  }

  // The number in units of 2^kLowestExponent, in two's complement.
  GRIDFOLD_HD const uint64_t* limbs() const { return limbs_; }
  GRIDFOLD_HD uint64_t* mutable_limbs() { return limbs_; }

  // sum / divisor, rounded once. -0.0 where every addend was -0.0 or there was none.
  GRIDFOLD_HD double Quotient(uint64_t divisor) const {
    if (!is_finite()) return NotFiniteValue();
    const LimbMagnitude magnitude = LimbMagnitude::OfSigned(limbs_, kLimbs);
    const double rounded = RoundToDouble(LeadingQuotient(magnitude, kLowestExponent, divisor));
    const bool negative = magnitude.is_negative() || flags_ == 0;
    return negative ? -rounded : rounded;
  }

  // The sum, rounded once.
  GRIDFOLD_HD double Rounded() const { return Quotient(1); }

  GRIDFOLD_HD bool operator==(const ExactSum& other) const {
    bool equal = flags_ == other.flags_;
    GRIDFOLD_ROLLED
    for (int i = 0; i < kLimbs; ++i) equal = equal && limbs_[i] == other.limbs_[i];
    return equal;
  }

 private:
  GRIDFOLD_HD static bool IsSigned(F x) { return Decompose(x).negative; }

  // A sum that is not finite has no number, so that equal sums have equal bits.
  GRIDFOLD_HD void DropNumber() {
    GRIDFOLD_ROLLED
    for (int i = 0; i < kLimbs; ++i) limbs_[i] = 0;
  }

  uint64_t limbs_[kLimbs] = {};
  uint32_t flags_ = 0;
};

// Digits that ForEachDigit gives.
constexpr int DigitCount(int magnitude_bits) { return (magnitude_bits + 32 - 2) / 32 + 1; }

// Cuts +-magnitude * 2^position into signed digits 32 bits apart and calls add(digit, value) for
// each; every value is below 2^32 in size, so that a digit of 64 bits takes 2^31 of them. Requires
// kMagnitudeBits of `magnitude` at most.
template <int kMagnitudeBits, class Add>
GRIDFOLD_HD inline void ForEachDigit(Uint128 magnitude, uint32_t position, bool negative, Add add) {
  constexpr int kDigitBits = 32;
  // Half of the work where 64 bits hold the magnitude, which is what elements have.
  using Wide = std::conditional_t<(kMagnitudeBits <= 64), uint64_t, Uint128>;
  const uint32_t first = position / kDigitBits;
  const uint32_t shift = position % kDigitBits;
  Wide rest = static_cast<Wide>(magnitude) >> (kDigitBits - shift);
  int64_t digit = static_cast<uint32_t>(magnitude) << shift;
  for (int i = 0; i < DigitCount(kMagnitudeBits); ++i) {
    add(first + i, negative ? -digit : digit);
    digit = static_cast<uint32_t>(rest);
    rest >>= kDigitBits;
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SUMS_EXACT_SUM_H_
