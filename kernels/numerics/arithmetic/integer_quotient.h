// Quotients of integers, rounded once, and with them means and variances of integers.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_INTEGER_QUOTIENT_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_INTEGER_QUOTIENT_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// x / divisor, rounded to the nearest, ties to even. Requires a divisor other than 0.
//
// Division of integers that are float64 is rounded once. Of larger ones, an integer quotient of
// more than 54 bits, whose last bit tells of a remainder too, is rounded as the quotient is.
GRIDFOLD_HD inline double IntegerQuotient(Uint128 x, uint64_t divisor) {
  constexpr uint64_t kDoublesMax = uint64_t{1} << 53;
  constexpr int kPrecision = 54;
  if (x <= kDoublesMax && divisor <= kDoublesMax) {
    return static_cast<double>(static_cast<uint64_t>(x)) / static_cast<double>(divisor);
  }
  const uint64_t limbs[2] = {static_cast<uint64_t>(x), static_cast<uint64_t>(x >> kLimbBits)};
  if (limbs[1] < divisor) {
    uint64_t rest = limbs[1];
    const uint64_t integer = LimbDivisor(divisor).Divide(rest, limbs[0]);
    if ((integer >> kPrecision) != 0) return static_cast<double>(integer | (rest != 0 ? 1 : 0));
  }
  return RoundToDouble(LeadingQuotient(LimbMagnitude::OfUnsigned(limbs, 2), 0, divisor));
}
GRIDFOLD_HD inline double SignedIntegerQuotient(Int128 x, uint64_t divisor) {
  return x < 0 ? -IntegerQuotient(-static_cast<Uint128>(x), divisor)
               : IntegerQuotient(static_cast<Uint128>(x), divisor);
}

// The variance of integers of which Unsigned holds `count` times the sum of their squares, and 32
// bits their count.
template <class Unsigned, class Sum>
GRIDFOLD_HD inline double IntegerVariance(Sum sum, Unsigned squares, uint64_t count,
                                          uint64_t ddof) {
  const Unsigned magnitude = static_cast<Unsigned>(sum < 0 ? -sum : sum);
  return IntegerQuotient(squares * count - magnitude * magnitude, count * (count - ddof));
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_INTEGER_QUOTIENT_H_
