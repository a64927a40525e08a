// Sums of float64 numbers as pairs: what a sum's rounded value leaves is kept beside it.
//
// Where the addends and all sums of some of them are multiples of one unit and so small that the
// errors of all additions together fit the bits of a second float64, high + low is the exact sum
// (Knuth, "The Art of Computer Programming" 2, 4.2.2: TwoSum; Ogita, Rump, Oishi 2005, "Accurate
// sum and dot product": Sum2). Host and device; compiled without contraction.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SUMS_PAIR_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_SUMS_PAIR_SUM_H_

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/numerics/sums/expansion_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

struct PairSum {
  double high = -0.0;  // Addition's identity: a sum of nothing but negative zeros is one.
  double low = 0;

  GRIDFOLD_HD void Add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  GRIDFOLD_HD void Merge(const PairSum& other) {
    Add(other.high);
    low += other.low;
  }
  // This number, its `high` being the nearest float64.
  GRIDFOLD_HD PairSum Rounded() const {
    if (low == 0) return *this;  // Negative zero stays that.
    PairSum rounded{high, 0};
    rounded.Add(low);
    return rounded;
  }
};

// A pair of addends of any kind, and a bound of what its low lost: the sum of the errors'
// magnitudes.
struct CheckedPair {
  double high = -0.0;
  double low = 0;
  double lost = 0;  // But for its own rounding.

  GRIDFOLD_HD void Add(double x) {
    const SumAndError next = SumAndError::Of(high, x);
    high = next.sum;
    AddLow(next.error);
  }
  GRIDFOLD_HD void Merge(const CheckedPair& other) {
    lost += other.lost;
    AddLow(other.low);
    Add(other.high);
  }

  GRIDFOLD_HD PairSum pair() const { return {high, low}; }
  // What the sum differs from the pair by at most: not a number where an addend, or a sum of some,
  // is not finite.
  GRIDFOLD_HD double Error() const { return 2 * lost + (low - low); }
  GRIDFOLD_HD bool IsExact() const { return Error() == 0; }
  // The nearest float64, if such an error leaves but one; returns whether it does.
  GRIDFOLD_HD bool Round(double error, double& rounded) const {
    rounded = low == 0 ? high : high + low;  // A negative zero, maybe.
    // The margin itself is rounded.
    const double margin = error == 0 ? 0 : error + fabs(low) * 0x1p-52;
    return high + (low - margin) == high + (low + margin);
  }

  // Adds an addend that is small beside the others, in fewer steps than Add takes.
  GRIDFOLD_HD void AddLow(double x) {
    const SumAndError next = SumAndError::Of(low, x);
    low = next.sum;
    lost += fabs(next.error);
  }
};

// The divisor of means of groups of one size.
class MeanDivisor {
 public:
  GRIDFOLD_HD explicit MeanDivisor(uint64_t size)
      : size_(static_cast<double>(size)),
        inverse_(1 / size_),
        is_exact_(size < (uint64_t{1} << 53)) {}

  // (high + low) / size in `mean`, rounded once, of a sum that is known but for `error`, if the
  // quotient's first bits and an approximation of the others tell what that is; returns whether
  // they do, as nearly always.
  GRIDFOLD_HD bool Divide(const PairSum& sum, double& mean, double error = 0) const {
    const PairSum rounded = sum.Rounded();
    mean = rounded.high * inverse_;
    if (rounded.high == 0) return error == 0;
    const SumAndError rest = SumAndError::Of(fma(-mean, size_, rounded.high), rounded.low);
    const double others = rest.sum * inverse_;
    // More than what these may be wrong by.
    const double margin = fma(fabs(others), 0x1p-50, 2 * error * inverse_);
    const bool is_clear = mean + (others - margin) == mean + (others + margin);
    // In the middle of two numbers, as sums of a few elements often are.
    const bool is_exact = error == 0 && rest.error == 0 && fma(-others, size_, rest.sum) == 0;
    mean += others;
    // No number on the way was too small to have all of its bits.
    const bool is_ordinary = fabs(mean) > 0x1p-900;
    return is_ordinary && is_exact_ && (is_clear || is_exact);
  }

 private:
  double size_;
  double inverse_;
  bool is_exact_;
};

// Whether a pair holds the sum of `count` numbers exactly, all of them multiples of a unit and
// below 2^span_bits units. `chain`, below 2^26, is the most additions and merges that any of them
// goes through.
//
// Every high is a sum of some of the numbers but for what is in the lows, so an addition's error is
// at most 2^-53 of the sum of their magnitudes. Additions of one place in the chain are of
// different numbers: their errors together are at most 2^-53 of the sum of all magnitudes, and
// those of all places, which are what lows add up to, are below 2^53 units where this holds.
template <std::unsigned_integral Count>
GRIDFOLD_HD constexpr bool PairHolds(int span_bits, Count count, Count chain) {
  return span_bits + static_cast<int>(std::bit_width(count)) +
             static_cast<int>(std::bit_width(chain)) <=
         2 * FloatFormat<double>::kPrecision;
}

// An exact pair as a sum of F, of the smallest of which it is a multiple. Finite; zero is negative
// where the sum is of nothing but negative zeros.
template <std::floating_point F = float>
GRIDFOLD_HD inline ExactSum<F, 1> ExactSumOf(const PairSum& pair) {
  using Sum = ExactSum<F, 1>;
  constexpr int kShift = Sum::kLowestExponent - FloatFormat<double>::kLowestExponent;
  Sum sum;
  sum.AddFlags(ExactSumFlagsOf(pair.high));
  for (const double part : {pair.high, pair.low}) {
    const DecomposedFloat d = Decompose(part);
    const int position = static_cast<int>(d.position) - kShift;
    if (d.significand == 0) continue;
    // What is shifted out is 0.
    const uint64_t integer = position < 0 ? d.significand >> -position : d.significand;
    sum.AddInteger(integer, static_cast<uint32_t>(position < 0 ? 0 : position), d.negative);
  }
  return sum;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SUMS_PAIR_SUM_H_
