// What a histogram keeps of the weights of a bin: their exact sum. Sums merge in any order.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SUMS_WEIGHT_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_SUMS_WEIGHT_SUM_H_

#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// The sum of weights of type W: an ExactSum of floating-point numbers, an Int128 of integers.
template <class W>
struct WeightSumType {
  using type = Int128;
};
template <FloatingElement W>
struct WeightSumType<W> {
  using type = ExactSum<ComputeType<W>, 1>;
};
template <class W>
using WeightSum = typename WeightSumType<W>::type;

// Adds the weights of `other` to `sum`.
inline void Merge(Int128 other, Int128& sum) { sum += other; }
template <std::floating_point F>
void Merge(const ExactSum<F, 1>& other, ExactSum<F, 1>& sum) {
  sum.Merge(other);
}

// The float64 answer, rounded once. Zero is +0.0, as in a bin without samples.
template <std::floating_point F>
GRIDFOLD_HD inline double RoundedWeightSum(const ExactSum<F, 1>& sum) {
  return sum.Rounded() + 0.0;
}
GRIDFOLD_HD inline double RoundedWeightSum(Int128 sum) {
  const Uint128 magnitude = sum < 0 ? Uint128{0} - static_cast<Uint128>(sum) : sum;
  const double rounded = RoundToDouble({.bits = magnitude});
  return sum < 0 ? -rounded : rounded;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SUMS_WEIGHT_SUM_H_
