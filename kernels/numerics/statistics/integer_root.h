// Square roots of quotients of integers, rounded once, where some tens of operations in double
// precision tell how: an exact root takes hundreds. Host and device; compiled without contraction.
//
//   double norm;
//   if (!RootOfQuotient(squares, 1, norm)) ...  // Exactly.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_INTEGER_ROOT_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_INTEGER_ROOT_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// The root of numerator / divisor, if it is certain; returns whether it is. Hardly ever it is not,
// but of numerators of more than 114 bits. Requires a divisor that is an integer; nothing is known
// of one beyond 2^52.
GRIDFOLD_HD inline bool RootOfQuotient(Uint128 numerator, double divisor, double& root) {
  if (!(divisor >= 1 && divisor <= 0x1p52)) return false;
  return BoundedInteger(static_cast<Int128>(numerator), 1).DividedBy(divisor).Root().Round(root);
}

// The same of the variance of `count` integers over `divisor`, of which 128 bits hold `count` times
// the sum of squares where 32 bits hold their count; of more nothing is known.
template <class Sum, class Squares>
GRIDFOLD_HD inline bool RootOfVariance(Sum sum, Squares squares, uint64_t count, uint64_t ddof,
                                       uint64_t divisor, double& root) {
  if ((count >> 32) != 0) return false;
  const Uint128 magnitude = static_cast<Uint128>(sum < 0 ? -sum : sum);
  const Uint128 deviations = static_cast<Uint128>(squares) * count - magnitude * magnitude;
  const double groups = static_cast<double>(count) * static_cast<double>(count - ddof);
  return RootOfQuotient(deviations, groups * static_cast<double>(divisor), root);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_INTEGER_ROOT_H_
