// From exact numbers to float64: quotients and square roots that are rounded once, to the nearest,
// ties to even.
//
// A number is cut to its leading bits and the knowledge whether anything not 0 was cut off, which
// is all that rounding needs (the "sticky bit" of IEEE 754 implementations). Division by up to
// three 64-bit integers is long division from the top, floor(floor(a / b) / c) being
// floor(a / (b * c)); the square root is that of the leading 128 bits, floor(sqrt(floor(a))) being
// floor(sqrt(a)).
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_EXACT_QUOTIENT_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_EXACT_QUOTIENT_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/types/host_device.h"

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
  constexpr int kHighestExponent = 1024 - kPrecision;
  const int length = BitLength(x.bits);
  if (length == 0) return 0;
  int last = x.exponent + length - kPrecision;  // Exponent of the result's last bit.
  if (last > kHighestExponent) return std::numeric_limits<double>::infinity();
  if (last < kLowestExponent) last = kLowestExponent;
  const int cut = last - x.exponent;
  if (cut > length) return 0;
  uint64_t kept;
  if (cut <= 0) {
    kept = static_cast<uint64_t>(x.bits) << -cut;
  } else {
    // A shift by 128 is not defined; cut is at most length, and then nothing is kept.
    kept = cut >= 128 ? 0 : static_cast<uint64_t>(x.bits >> cut);
    const bool half = ((x.bits >> (cut - 1)) & 1) != 0;
    const bool below_half = x.has_fraction || (x.bits & ((Uint128{1} << (cut - 1)) - 1)) != 0;
    if (half && (below_half || (kept & 1) != 0)) ++kept;
  }
  // The first of 53 bits, and a carry out of them, add to the exponent.
  return std::bit_cast<double>((static_cast<uint64_t>(last - kLowestExponent) << (kPrecision - 1)) +
                               kept);
}

// Makes one divisor of two where it fits a limb.
GRIDFOLD_HD inline void JoinDivisors(uint64_t& divisor, uint64_t& other) {
  const Uint128 product = Uint128{divisor} * other;
  if ((product >> kLimbBits) != 0) return;
  divisor = static_cast<uint64_t>(product);
  other = 1;
}

// x * 2^exponent / (divisor * second_divisor * third_divisor). Requires divisors other than 0.
GRIDFOLD_HD inline LeadingBits LeadingQuotient(const LimbMagnitude& x, int exponent,
                                               uint64_t divisor, uint64_t second_divisor = 1,
                                               uint64_t third_divisor = 1) {
  if (x.end() == 0) return {};
  JoinDivisors(divisor, second_divisor);
  JoinDivisors(divisor, third_divisor);
  const LimbDivisor by_first(divisor);
  const LimbDivisor by_second(second_divisor);
  const LimbDivisor by_third(third_divisor);
  // Limbs of the quotient from its first that is not 0: more than 128 bits of it.
  uint64_t quotient[3] = {0, 0, 0};
  uint64_t rest = 0;
  uint64_t second_rest = 0;
  uint64_t third_rest = 0;
  int i = x.end();
  GRIDFOLD_ROLLED
  while (quotient[0] == 0) {
    --i;
    uint64_t digit = by_first.Divide(rest, i >= x.lowest() ? x[i] : 0);
    if (second_divisor != 1) digit = by_second.Divide(second_rest, digit);
    if (third_divisor != 1) digit = by_third.Divide(third_rest, digit);
    quotient[0] = quotient[1];
    quotient[1] = quotient[2];
    quotient[2] = digit;
  }
  const bool has_fraction = rest != 0 || second_rest != 0 || third_rest != 0 || x.lowest() < i;

  const int shift = LeadingZeros(quotient[0]);
  LeadingBits leading;
  leading.bits = (Uint128{quotient[0]} << kLimbBits) | quotient[1];
  if (shift > 0) leading.bits = (leading.bits << shift) | (quotient[2] >> (kLimbBits - shift));
  leading.exponent = exponent + i * kLimbBits + kLimbBits - shift;
  leading.has_fraction = has_fraction || (quotient[2] << shift) != 0;
  return leading;
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

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_EXACT_QUOTIENT_H_
