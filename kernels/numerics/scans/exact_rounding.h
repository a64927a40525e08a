// From exact numbers to elements of every floating-point type: rounded once, to the nearest, ties
// to even.
//
// Rounding to float64 and then to a smaller type would round twice. Rounding to odd first does not
// (Boldo, Melquiond 2008, "Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd"): float64 has more than two bits to spare for each of the smaller types. Integer
// arithmetic without ldexp, since scans do it for every element. Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_ROUNDING_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_ROUNDING_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/scans/operator.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

namespace rounding_internal {

inline constexpr int kFractionBits = 52;
inline constexpr int kCutBits = kLimbBits - kFractionBits - 1;  // Of a significand of 64 bits.
inline constexpr int kBias = 1023;
inline constexpr int kLowestExponent = -1074;

// The leading 64 bits of a number other than 0, and whether anything follows them:
// (significand + fraction) * 2^(exponent - 63), the significand's first bit being set.
struct Normalized {
  uint64_t significand;
  int exponent;
  bool has_fraction;
};

GRIDFOLD_HD inline Normalized Normalize(const LeadingBits& x) {
  const int length = BitLength(x.bits);
  const Uint128 aligned = x.bits << (2 * kLimbBits - length);
  return {static_cast<uint64_t>(aligned >> kLimbBits), x.exponent + length - 1,
          x.has_fraction || static_cast<uint64_t>(aligned) != 0};
}

// float64 bits of the number cut to 53 bits; the significand's first bit adds the missing one to
// the exponent.
GRIDFOLD_HD inline uint64_t CutBits(const Normalized& x) {
  return (static_cast<uint64_t>(x.exponent + kBias - 1) << kFractionBits) +
         (x.significand >> kCutBits);
}

// To a float64 that is odd where it is not exact. Requires a normal one.
GRIDFOLD_HD inline double ToOddDouble(const LeadingBits& x) {
  const Normalized n = Normalize(x);
  const bool inexact = n.has_fraction || (n.significand << (kLimbBits - kCutBits)) != 0;
  return std::bit_cast<double>(CutBits(n) | (inexact ? 1 : 0));
}

// To the nearest float64. Requires a multiple of the smallest one.
GRIDFOLD_HD inline double ToNearestDouble(const LeadingBits& x) {
  const Normalized n = Normalize(x);
  if (n.exponent >= kBias + 1) return std::numeric_limits<double>::infinity();
  if (n.exponent < 1 - kBias) {
    // Subnormal, hence exact.
    const int cut = kLowestExponent - x.exponent;
    const Uint128 units = cut > 0 ? x.bits >> cut : x.bits << -cut;
    return std::bit_cast<double>(static_cast<uint64_t>(units));
  }
  constexpr uint64_t kHalf = uint64_t{1} << (kCutBits - 1);
  const uint64_t bits = CutBits(n);
  const uint64_t rest = n.significand & (2 * kHalf - 1);
  const bool is_odd = (bits & 1) != 0;
  // Without a branch: the bits that are cut off are as good as random.
  const bool up = (rest > kHalf) | ((rest == kHalf) & (n.has_fraction | is_odd));
  // A carry out of the significand moves into the exponent, up to infinity, by itself.
  return std::bit_cast<double>(bits + (up ? 1 : 0));
}

}  // namespace rounding_internal

// +-x rounded once to Out. Requires a multiple of the smallest float64 or, for smaller types, of
// the smallest float32: sums of numbers of the type, or of a smaller one, are such multiples.
template <FloatingElement Out>
GRIDFOLD_HD inline Out RoundOnce(bool negative, const LeadingBits& x) {
  double rounded = 0;
  if (x.bits != 0) {
    if constexpr (std::is_same_v<Out, double>) {
      rounded = rounding_internal::ToNearestDouble(x);
    } else {
      rounded = rounding_internal::ToOddDouble(x);
    }
  }
  // Without a branch: signs are as good as random.
  const uint64_t sign = uint64_t{negative} << (kLimbBits - 1);
  return RoundTo<Out>(std::bit_cast<double>(std::bit_cast<uint64_t>(rounded) | sign));
}

// As RoundOnce, of a quotient: x need not be such a multiple.
template <FloatingElement Out>
GRIDFOLD_HD inline Out RoundQuotient(bool negative, const LeadingBits& x) {
  if constexpr (std::is_same_v<Out, double>) {
    const double rounded = RoundToDouble(x);
    return negative ? -rounded : rounded;
  } else {
    return RoundOnce<Out>(negative, x);  // No quotient of these leaves the normal float64s.
  }
}

// The NaN of the type, or an infinity, in its one form: processors differ in what they convert NaN
// to.
template <FloatingElement Out>
GRIDFOLD_HD inline Out NotFinite(double value) {
  if constexpr (std::is_same_v<Out, float>) {
    if (IsNan(value)) return std::numeric_limits<float>::quiet_NaN();
  }
  return RoundTo<Out>(value);
}

// A sum rounded once to Out. -0.0 where every addend was -0.0 or there was none. The same bits
// everywhere, those of a NaN too.
template <FloatingElement Out, std::floating_point F>
GRIDFOLD_HD inline Out RoundOnce(const ExactSum<F, 1>& sum) {
  using Sum = ExactSum<F, 1>;
  if (!sum.is_finite()) return NotFinite<Out>(sum.NotFiniteValue());
  const LimbMagnitude magnitude = LimbMagnitude::OfSigned(sum.limbs(), Sum::kLimbs);
  return RoundOnce<Out>(magnitude.is_negative() || sum.flags() == 0,
                        LeadingQuotient(magnitude, Sum::kLowestExponent, 1));
}

// sum / count, rounded once to Out. Requires a count other than 0.
template <FloatingElement Out, std::floating_point F>
GRIDFOLD_HD inline Out RoundMean(const ExactSum<F, 1>& sum, uint64_t count) {
  using Sum = ExactSum<F, 1>;
  if (!sum.is_finite()) return NotFinite<Out>(sum.NotFiniteValue());
  const LimbMagnitude magnitude = LimbMagnitude::OfSigned(sum.limbs(), Sum::kLimbs);
  return RoundQuotient<Out>(magnitude.is_negative() || sum.flags() == 0,
                            LeadingQuotient(magnitude, Sum::kLowestExponent, count));
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_ROUNDING_H_
