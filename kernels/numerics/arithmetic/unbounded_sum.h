// Sums of float64 numbers that pass the largest one on the way to a sum that does not: what float64
// addition would be whose exponent had no upper bound.
//
//   UnboundedSum s = UnboundedSum::Of(1.7e308).Plus(UnboundedSum::Of(1.7e308));
//   s.Plus(UnboundedSum::Of(-1.7e308)).Rounded();  // 1.7e308
//
// A sum that is too large is kept as a multiple of 2^64, which leaves room for 2^40 summands; one
// that comes back is a plain number again. A summand that loses bits when it is put into that unit
// is below 2^-958, and the other one is 2^900 at least: the result is the other one either way. So
// every addition has the bits of a float64 addition wherever that does not overflow.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_UNBOUNDED_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_UNBOUNDED_SUM_H_

#include <cmath>
#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

struct UnboundedSum {
  double fraction = -0.0;  // Of units of 2^exponent. Infinite or NaN only where a summand is.
  int64_t exponent = 0;    // 0, or 64 from 2^900 on.

  GRIDFOLD_HD static UnboundedSum Of(double x) { return {x, 0}; }

  GRIDFOLD_HD UnboundedSum Plus(const UnboundedSum& other) const {
    if (exponent == 0 && other.exponent == 0) {
      const double sum = fraction + other.fraction;
      if (IsFinite(sum) || !IsFinite(fraction) || !IsFinite(other.fraction)) return {sum, 0};
    }
    const double sum = InLargeUnits() + other.InLargeUnits();
    if (std::fabs(sum) < 0x1p836) return {sum * 0x1p64, 0};
    return {sum, 64};
  }

  // To the nearest float64 number.
  GRIDFOLD_HD double Rounded() const { return exponent == 0 ? fraction : fraction * 0x1p64; }

 private:
  GRIDFOLD_HD double InLargeUnits() const { return exponent == 0 ? fraction * 0x1p-64 : fraction; }
};

// Whether a sum of `count` numbers of magnitude `largest` at most may pass the largest float64,
// whatever is added first. Half of that number leaves room for what rounding adds.
GRIDFOLD_HD inline bool SumsMayPassTheLargest(double largest, uint64_t count) {
  return largest >= 0x1p1023 / static_cast<double>(count + 1);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_UNBOUNDED_SUM_H_
