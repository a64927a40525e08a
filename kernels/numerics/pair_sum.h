// Sums of float64 numbers as pairs: what a sum's rounded value leaves is kept beside it.
//
// Where the addends and all sums of some of them are multiples of one unit and so small that the
// errors of all additions together fit the bits of a second float64, high + low is the exact sum
// (Knuth, "The Art of Computer Programming" 2, 4.2.2: TwoSum; Ogita, Rump, Oishi 2005, "Accurate
// sum and dot product": Sum2). Host and device; compiled without contraction.
#ifndef GRIDFOLD_KERNELS_NUMERICS_PAIR_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_PAIR_SUM_H_

#include <bit>
#include <concepts>
#include <cstdint>

#include "kernels/numerics/exact_sum.h"
#include "kernels/numerics/host_device.h"

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
  // The same number, its `high` being the nearest float64.
  GRIDFOLD_HD PairSum Rounded() const {
    if (low == 0) return *this;  // Negative zero stays that.
    PairSum rounded{high, 0};
    rounded.Add(low);
    return rounded;
  }
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

// An exact pair as a sum of floats, of the smallest of which it is a multiple. Finite; zero is
// negative where the sum is of nothing but negative zeros.
GRIDFOLD_HD inline ExactSum<float, 1> ExactSumOf(const PairSum& pair) {
  using Sum = ExactSum<float, 1>;
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

#endif  // GRIDFOLD_KERNELS_NUMERICS_PAIR_SUM_H_
