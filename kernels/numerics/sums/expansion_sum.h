// The sum of a few floats, rounded once to float64.
//
// The sum is kept as an expansion: float64 numbers in increasing order of magnitude, no two of
// which overlap and whose sum is exact (Shewchuk 1997, "Adaptive precision floating-point
// arithmetic and fast robust geometric predicates", Grow-Expansion). It grows with every addend, so
// what adding takes grows with the square of their number; but there is no branch and no memory.
// Host and device; compiled without contraction.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SUMS_EXPANSION_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_SUMS_EXPANSION_SUM_H_

#include <bit>
#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// sum + error is exactly a + b, sum being the nearest float64 (Knuth's TwoSum).
struct SumAndError {
  double sum;
  double error;
  GRIDFOLD_HD static SumAndError Of(double a, double b) {
    const double sum = a + b;
    const double of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
  }
};

// To the nearest, ties to even. Values of any kind: NaNs as they come.
template <int kCount>
GRIDFOLD_HD inline double RoundedSum(const float (&values)[kCount]) {
  // Which is not finite where a value is not, and -0.0 where all values are.
  double plain = static_cast<double>(values[0]);
  for (int i = 1; i < kCount; ++i) plain += static_cast<double>(values[i]);
  if (!IsFinite(plain)) return plain;
  double parts[kCount];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int n = 0; n < kCount; ++n) {
    double grown = static_cast<double>(values[n]);
    for (int i = 0; i < n; ++i) {
      const SumAndError next = SumAndError::Of(grown, parts[i]);
      grown = next.sum;
      parts[i] = next.error;
    }
    parts[n] = grown;
  }
  // From the largest down: the sum of the first ones is exact, then there is an error, and of what
  // follows the first that is not 0 has the sign of all.
  double sum = parts[kCount - 1];
  double error = 0;
  double rest = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = kCount - 1; i-- > 0;) {
    const SumAndError next = SumAndError::Of(sum, parts[i]);
    rest = error != 0 && rest == 0 ? parts[i] : rest;
    sum = error != 0 ? sum : next.sum;
    error = error != 0 ? error : next.error;
  }
  // What lay in the middle of two float64 numbers, but for the rest, is rounded to where that lies.
  const double other = sum + 2 * error;
  const bool was_tie = other - sum == 2 * error;
  const bool is_beyond = (error > 0 && rest > 0) || (error < 0 && rest < 0);
  const double rounded = was_tie && is_beyond ? other : sum;
  if (rounded != 0) return rounded;
  return std::bit_cast<uint64_t>(plain) == std::bit_cast<uint64_t>(-0.0) ? -0.0 : 0.0;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SUMS_EXPANSION_SUM_H_
