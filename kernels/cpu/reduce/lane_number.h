// Numbers that are known but for a bound, as BoundedNumber of numerics/sums/pair_moments.h, whose
// bounds they have: without branches, so that loops over lanes become vectors.
//
// Who asks takes a value only where it is certain, and then there is but one that it can be.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_LANE_NUMBER_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_LANE_NUMBER_H_

#include <cmath>

#include "kernels/numerics/sums/expansion_sum.h"
#include "kernels/numerics/sums/pair_moments.h"

namespace gridfold::kernels::cpu {

struct LaneNumber {
  double high;
  double low;
  double error;  // Infinite or NaN: nothing is known.

  static LaneNumber Of(const BoundedNumber& x) { return {x.high, x.low, x.error}; }

  // Requires a divisor from 1 to 2^52, an integer.
  LaneNumber DividedBy(double divisor) const {
    const double inverse = 1 / divisor;
    // Wrong by some units of its last bit at most, of which so few go into what is left that this
    // is exact.
    const double quotient = high * inverse;
    const SumAndError rest = SumAndError::Of(__builtin_fma(-quotient, divisor, high), low);
    const double others = rest.sum * inverse;
    const double left = __builtin_fma(-others, divisor, rest.sum);
    const double inexact =
        __builtin_fma(std::fabs(others), 0x1p-50, 2 * std::fabs(rest.error) * inverse);
    const double rounding = (rest.error == 0) & (left == 0) ? 0 : inexact;
    const double known = error * inverse * (1 + 0x1p-40) + rounding;
    return {quotient, others, IsOrdinary() | IsZero() ? known : BoundedNumber::kUnknown};
  }

  // Of a number that is not negative.
  LaneNumber Root() const {
    const double root = std::sqrt(high);
    const double inverse = 0.5 / root;
    // With r the root of what high is near to, (r + d)^2 = r^2 + 2 r d but for d^2, which is below
    // 2^-50 of that.
    const double others = (__builtin_fma(-root, root, high) + low) * inverse;
    const double known = error * inverse * (1 + 0x1p-40) + std::fabs(others) * 0x1p-48;
    const double error_of_root = (high > 0) & IsOrdinary() ? known : BoundedNumber::kUnknown;
    const bool is_zero = IsZero();
    return {is_zero ? high : root, is_zero ? 0 : others, is_zero ? error : error_of_root};
  }

  // The nearest float64 if that is certain; returns whether it is.
  bool Round(double& rounded) const {
    const double sum = high + low;
    rounded = low == 0 ? high : sum;  // A negative zero, maybe.
    // The margin itself is rounded.
    const double inexact = error + std::fabs(low) * 0x1p-52;
    const double margin = error == 0 ? 0 : inexact;
    return high + (low - margin) == high + (low + margin);
  }

 private:
  bool IsZero() const { return (high == 0) & (low == 0); }
  bool IsOrdinary() const {
    return (std::fabs(high) > BoundedNumber::kLeast) & (std::fabs(high) < BoundedNumber::kUnknown);
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_LANE_NUMBER_H_
