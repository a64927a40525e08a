// Integers and fractions that are exact where doubles are not, to round once.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_EXACT_ARITHMETIC_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_EXACT_ARITHMETIC_H_

#include <cmath>

namespace gridfold::load {

__extension__ using Int128 = __int128;
// 113 bits of significand: so many more than a double's that rounding quotients and roots twice
// makes no difference.
__extension__ using Float128 = __float128;

// The square root, by a step of Newton's from the double nearest to it.
inline Float128 SquareRoot(Float128 value) {
  const double close = std::sqrt(static_cast<double>(value));
  if (close == 0) return 0;
  const Float128 root = close;
  return (root + value / root) / 2;
}

// The covariance of `count` observations by their sums, times the square of their number.
inline Int128 ScaledCovariance(Int128 count, Int128 sum_x, Int128 sum_y, Int128 sum_of_products) {
  return count * sum_of_products - sum_x * sum_y;
}

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_EXACT_ARITHMETIC_H_
