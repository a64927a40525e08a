// Sums of float64 addends with about twice its precision, and the arithmetic to evaluate means and
// variances from them.
//
// Every addition is error-free: TwoSum (Knuth 1969) splits a + b into the rounded sum and its exact
// error, and the errors are summed beside (Neumaier 1974; Ogita, Rump, Oishi 2005, "Accurate sum
// and dot product"). The relative error of the result is that of one rounding plus n^2 * 2^-106
// times the condition number. The order of the addends can so change the result only where it lies
// within that distance of the middle of two numbers.
//
// Requires that the compiler neither contracts nor reassociates: -ffp-contract=off, no -ffast-math,
// nvcc --fmad=false.
#ifndef GRIDFOLD_KERNELS_NUMERICS_COMPENSATED_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_COMPENSATED_SUM_H_

#include <cmath>

#include "kernels/numerics/element.h"
#include "kernels/numerics/host_device.h"

namespace gridfold::kernels {

// An unevaluated sum high + low.
struct DoubleDouble {
  double high;
  double low;
};

// a + b exactly, as the rounded sum and its error. Infinities and NaN make the error NaN.
GRIDFOLD_HD inline DoubleDouble TwoSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

// a * b exactly, where nothing underflows.
GRIDFOLD_HD inline DoubleDouble TwoProduct(double a, double b) {
  const double product = a * b;
  return {product, fma(a, b, -product)};
}

GRIDFOLD_HD inline DoubleDouble Add(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = TwoSum(a.high, b.high);
  const DoubleDouble low = TwoSum(a.low, b.low);
  const DoubleDouble middle = TwoSum(high.high, high.low + low.high);
  return TwoSum(middle.high, middle.low + low.low);
}

GRIDFOLD_HD inline DoubleDouble Negate(DoubleDouble a) { return {-a.high, -a.low}; }

GRIDFOLD_HD inline DoubleDouble Multiply(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = TwoProduct(a.high, b.high);
  return TwoSum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

// a / b for a finite, non-zero b.
GRIDFOLD_HD inline DoubleDouble Divide(DoubleDouble a, double b) {
  const double first = a.high / b;
  const DoubleDouble back = TwoProduct(first, b);
  const double rest = ((a.high - back.high) - back.low) + a.low;
  return TwoSum(first, rest / b);
}

// A running sum. Starts as -0.0, the identity of floating-point addition, so that the sum of
// negative zeros keeps its sign.
struct CompensatedSum {
  double sum = -0.0;  // The plainly rounded sum: also carries infinities and NaN.
  double errors = 0;  // Sum of the roundings' errors; meaningless where `sum` is not finite.

  GRIDFOLD_HD void Add(double x) {
    const DoubleDouble s = TwoSum(sum, x);
    sum = s.high;
    errors += s.low;
  }

  // Adds x * x without rounding it.
  GRIDFOLD_HD void AddSquare(double x) {
    const DoubleDouble square = TwoProduct(x, x);
    Add(square.high);
    errors += square.low;
  }

  GRIDFOLD_HD void Merge(const CompensatedSum& other) {
    Add(other.sum);
    errors += other.errors;
  }

  GRIDFOLD_HD DoubleDouble Value() const {
    return IsFinite(sum) ? TwoSum(sum, errors) : DoubleDouble{sum, 0};
  }

  // The sum, rounded to the nearest.
  GRIDFOLD_HD double Rounded() const { return IsFinite(sum) && errors != 0 ? sum + errors : sum; }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_COMPENSATED_SUM_H_
