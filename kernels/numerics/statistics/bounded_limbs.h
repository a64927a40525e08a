// What the upper bits of long numbers tell of values that are made of them: some tens of operations
// in double precision, where long arithmetic takes hundreds. Host and device; compiled without
// contraction.
//
//   double mean;
//   if (!BoundedLimbs(magnitude, unit_exponent).DividedBy(count).Round(mean)) ...  // Exactly.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_BOUNDED_LIMBS_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_BOUNDED_LIMBS_H_

#include <bit>
#include <cstdint>

#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/numerics/sums/pair_moments.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// A number of units of 2^unit_exponent, with its sign: its upper 114 bits. Nothing is known of
// numbers so large or small that their squares, or what is left of those, would be no double.
GRIDFOLD_HD inline BoundedNumber BoundedLimbs(const LimbMagnitude& x, int unit_exponent) {
  constexpr int kLimbs = 3;
  constexpr int kLowest = -528;  // So numbers are 2^-400 and more, since their last limb is not 0,
  constexpr int kHighest = 300;  // and less than 2^492.
  constexpr int kBias = 1023;
  if (x.end() == 0) return {0, 0, 0};
  const int first = x.end() - kLimbs;
  const int exponent = unit_exponent + first * kLimbBits;
  if (exponent < kLowest || exponent > kHighest) return {0, 0, BoundedNumber::kUnknown};
  const auto limb = [&](int i) { return i < x.lowest() ? 0 : x[i]; };
  const double unit = std::bit_cast<double>(static_cast<uint64_t>(kBias + exponent) << 52);
  BoundedNumber number =
      BoundedInteger(Uint192{{limb(first), limb(first + 1), limb(first + 2)}}, unit);
  if (x.lowest() < first) number.error += unit;
  if (x.is_negative()) return {-number.high, -number.low, number.error};
  return number;
}

// Divisors that BoundedNumber::DividedBy takes.
GRIDFOLD_HD inline bool IsBoundedDivisor(double divisor) {
  return divisor >= 1 && divisor <= 0x1p52;
}

// number / divisor, or its square root, if that is certain; returns whether it is. Requires that
// the divisor is an integer.
GRIDFOLD_HD inline bool RoundQuotient(const BoundedNumber& number, double divisor, bool is_root,
                                      double& value) {
  if (!IsBoundedDivisor(divisor)) return false;
  const BoundedNumber quotient = divisor == 1 ? number : number.DividedBy(divisor);
  return (is_root ? quotient.Root() : quotient).Round(value);
}

// (count * squares - sum^2) / (count * (count - ddof) * divisor), or its square root, likewise.
GRIDFOLD_HD inline bool RoundVariance(const BoundedNumber& sum, const BoundedNumber& squares,
                                      uint64_t count, uint64_t ddof, uint64_t divisor, bool is_root,
                                      double& value) {
  constexpr uint64_t kCountMax = (uint64_t{1} << 26) - 1;
  if (count > kCountMax) return false;
  const double size = static_cast<double>(count);
  return RoundQuotient(SquareDeviations(sum, squares, size),
                       size * static_cast<double>(count - ddof) * static_cast<double>(divisor),
                       is_root, value);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_BOUNDED_LIMBS_H_
