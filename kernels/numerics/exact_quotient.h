// From exact numbers to float64: quotients and square roots that are rounded once, to the nearest,
// ties to even.
//
// A number is cut to its leading bits and the knowledge whether anything not 0 was cut off, which
// is all that rounding needs (the "sticky bit" of IEEE 754 implementations). Division by one or two
// 64-bit integers is schoolbook long division from the top, floor(floor(a / b) / c) being
// floor(a / (b * c)); the square root is that of the leading 128 bits, floor(sqrt(floor(a))) being
// floor(sqrt(a)).
#ifndef GRIDFOLD_KERNELS_NUMERICS_EXACT_QUOTIENT_H_
#define GRIDFOLD_KERNELS_NUMERICS_EXACT_QUOTIENT_H_

#include <cmath>
#include <cstdint>

#include "kernels/numerics/host_device.h"
#include "kernels/numerics/limbs.h"

namespace gridfold::kernels {

// The number (bits + fraction) * 2^exponent with 0 <= fraction < 1. Where the fraction is not 0,
// `bits` has at least 63 bits.
struct LeadingBits {
  Uint128 bits = 0;
  int exponent = 0;
  bool has_fraction = false;
};

// The nearest float64, ties to even; infinity past the largest finite value.
GRIDFOLD_HD inline double RoundToDouble(const LeadingBits& x) {
  constexpr int kPrecision = 53;
  constexpr int kLowestExponent = -1074;
  const int length = BitLength(x.bits);
  int last = x.exponent + length - kPrecision;  // Exponent of the result's last bit.
  if (last < kLowestExponent) last = kLowestExponent;
  const int cut = last - x.exponent;
  if (cut <= 0) return ldexp(static_cast<double>(static_cast<uint64_t>(x.bits)), x.exponent);
  if (cut > length) return 0;
  // A shift by 128 is not defined; cut is at most length, and then nothing is kept.
  uint64_t kept = cut >= 128 ? 0 : static_cast<uint64_t>(x.bits >> cut);
  const bool half = ((x.bits >> (cut - 1)) & 1) != 0;
  const bool below_half = x.has_fraction || (x.bits & ((Uint128{1} << (cut - 1)) - 1)) != 0;
  if (half && (below_half || (kept & 1) != 0)) ++kept;
  return ldexp(static_cast<double>(kept), last);
}

namespace quotient_internal {

// limb(i), i < count, being the limbs of a number; those from `count` on are 0, and so are those
// below `lowest`, of which limb(lowest) is the first that is not. The number is not 0.
template <class LimbAt>
GRIDFOLD_HD inline LeadingBits LeadingQuotient(LimbAt limb, int count, int lowest, int exponent,
                                               uint64_t divisor, uint64_t second_divisor) {
  constexpr int kKept = 3;               // Limbs of the quotient: more than 128 bits of it.
  uint64_t quotient[kKept] = {0, 0, 0};  // Most significant first.
  int kept = 0;
  uint64_t rest = 0;
  uint64_t second_rest = 0;
  int i = count;
  GRIDFOLD_ROLLED
  while (kept < kKept) {
    --i;
    uint64_t digit = i >= 0 ? limb(i) : 0;
    if (divisor != 1) digit = DivideStep(rest, digit, divisor);
    if (second_divisor != 1) digit = DivideStep(second_rest, digit, second_divisor);
    if (kept > 0 || digit != 0) quotient[kept++] = digit;
  }
  const bool has_fraction = rest != 0 || second_rest != 0 || lowest < i;

  const int shift = LeadingZeros(quotient[0]);
  LeadingBits leading;
  leading.bits = (Uint128{quotient[0]} << kLimbBits) | quotient[1];
  if (shift > 0) leading.bits = (leading.bits << shift) | (quotient[2] >> (kLimbBits - shift));
  leading.exponent = exponent + i * kLimbBits + kLimbBits - shift;
  leading.has_fraction = has_fraction || (quotient[2] << shift) != 0;
  return leading;
}

}  // namespace quotient_internal

// limbs * 2^exponent / (divisor * second_divisor). Requires divisors other than 0.
GRIDFOLD_HD inline LeadingBits LeadingQuotient(const uint64_t* limbs, int count, int exponent,
                                               uint64_t divisor, uint64_t second_divisor = 1) {
  count = SignificantLimbs(limbs, count);
  if (count == 0) return {};
  return quotient_internal::LeadingQuotient([&](int i) { return limbs[i]; }, count,
                                            LowestLimb(limbs, count), exponent, divisor,
                                            second_divisor);
}

// The same of the absolute value of a number in two's complement, without writing it down.
GRIDFOLD_HD inline LeadingBits LeadingQuotientOfSigned(const uint64_t* limbs, int count,
                                                       int exponent, uint64_t divisor) {
  const bool negative = IsNegativeNumber(limbs, count);
  const uint64_t sign = negative ? ~uint64_t{0} : 0;
  int significant = SignificantLimbs(limbs, count, sign);
  if (significant == 0 && !negative) return {};
  const int lowest = LowestLimb(limbs, count);
  const auto limb = [&](int i) {
    if (!negative) return limbs[i];
    if (i < lowest) return uint64_t{0};
    return i == lowest ? uint64_t{0} - limbs[i] : ~limbs[i];
  };
  // -2^(64 * n) has one limb more when it is made positive.
  if (negative && significant < count) ++significant;
  return quotient_internal::LeadingQuotient(limb, significant, lowest, exponent, divisor, 1);
}

// floor(sqrt(x)).
GRIDFOLD_HD inline uint64_t SquareRootFloor(Uint128 x) {
  constexpr double kLimit = 0x1p64;
  const double estimate = sqrt(static_cast<double>(static_cast<uint64_t>(x >> kLimbBits)) * kLimit +
                               static_cast<double>(static_cast<uint64_t>(x)));
  if (estimate == 0) return 0;
  // One Newton step makes 53 right bits more than 64; what is left is one or two units.
  const Uint128 start = estimate >= kLimit ? ~uint64_t{0} : static_cast<uint64_t>(estimate);
  const Uint128 refined = (start + x / start) / 2;
  uint64_t root = refined > ~uint64_t{0} ? ~uint64_t{0} : static_cast<uint64_t>(refined);
  while (Uint128{root} * root > x) --root;
  while (root != ~uint64_t{0} && (Uint128{root} + 1) * (Uint128{root} + 1) <= x) ++root;
  return root;
}

// The square root of a number that LeadingQuotient gave.
GRIDFOLD_HD inline LeadingBits SquareRoot(LeadingBits x) {
  if (x.bits == 0) return {};
  if (x.exponent % 2 != 0) {
    x.has_fraction = x.has_fraction || (x.bits & 1) != 0;
    x.bits >>= 1;
    x.exponent += 1;
  }
  const uint64_t root = SquareRootFloor(x.bits);
  return {root, x.exponent / 2, x.has_fraction || Uint128{root} * root != x.bits};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_EXACT_QUOTIENT_H_
