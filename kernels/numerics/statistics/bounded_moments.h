// Values of a group from the sum of its elements and that of their squares, where what is not known
// of these does not change how a value is rounded: some tens of operations in double precision,
// where exact integers take hundreds. Host and device; compiled without contraction.
//
//   const auto divisors = MomentDivisors::Of(count, ddof);  // Once for all groups.
//   const BoundedMoments moments{BoundedInteger(sum, unit), BoundedInteger(squares, unit * unit),
//                                min == max};
//   double variance;
//   if (!moments.Value(Statistic::kVariance, divisors, variance)) ...  // From exact integers.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_BOUNDED_MOMENTS_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_BOUNDED_MOMENTS_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/expansion_sum.h"
#include "kernels/numerics/sums/pair_moments.h"
#include "kernels/types/host_device.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

// `x` units, of which a power of two is one. Nothing is known of integers of more than 114 bits.
GRIDFOLD_HD inline BoundedNumber BoundedInteger(Int128 x, double unit) {
  constexpr int kLowerBits = 52;
  constexpr Int128 kUpperMax = Int128{1} << 62;
  const Int128 above = x >> kLowerBits;
  if (above >= kUpperMax || above < -kUpperMax) return {0, 0, BoundedNumber::kUnknown};
  const int64_t upper = static_cast<int64_t>(above);
  const double rounded = static_cast<double>(upper);
  const double rest = static_cast<double>(upper - static_cast<int64_t>(rounded));  // Some 10 bits.
  const double lower =
      static_cast<double>(static_cast<uint64_t>(x) & ((uint64_t{1} << kLowerBits) - 1));
  const double low = rest * 0x1p52 + lower;
  const double lost = rest == 0 ? 0 : fabs(low) * 0x1p-53;
  const SumAndError sum = SumAndError::Of(rounded * 0x1p52, low);
  return {sum.sum * unit, sum.error * unit, lost * unit};
}

// The same of an integer of any size, of which the upper 114 bits are taken.
GRIDFOLD_HD inline BoundedNumber BoundedInteger(const Uint192& x, double unit) {
  constexpr int kCut = 14;
  constexpr int kBias = 1023;
  const uint64_t(&limbs)[3] = x.limbs;
  const bool has_third = limbs[2] != 0;
  if (!has_third && limbs[1] >> (kLimbBits - kCut) == 0) {
    return BoundedInteger(static_cast<Int128>(Uint128{limbs[1]} << kLimbBits | limbs[0]), unit);
  }
  const uint64_t first = has_third ? limbs[2] : limbs[1];
  const uint64_t second = has_third ? limbs[1] : limbs[0];
  const uint64_t third = has_third ? limbs[0] : 0;
  const int shift = LeadingZeros(first);
  const uint64_t high = first << shift | (second >> 1) >> (kLimbBits - 1 - shift);
  const uint64_t low = second << shift | (third >> 1) >> (kLimbBits - 1 - shift);
  const uint64_t exponent =
      static_cast<uint64_t>(kBias + kCut - shift + (has_third ? kLimbBits : 0));
  const double unit_of_upper = unit * std::bit_cast<double>(exponent << 52);
  BoundedNumber number = BoundedInteger(
      static_cast<Int128>((Uint128{high} << kLimbBits | low) >> kCut), unit_of_upper);
  number.error += unit_of_upper;
  return number;
}

// A sum of elements, in units: a negative zero where all of them are.
GRIDFOLD_HD inline BoundedNumber BoundedElements(Int128 sum, double unit, bool are_negative_zeros) {
  if (are_negative_zeros) return {-0.0, 0, 0};
  return BoundedInteger(sum, unit);
}

// What sums of groups of one size are divided by, and the rounded inverses.
struct MomentDivisors {
  double size = 0;
  double size_inverse = 0;
  double deviations = 0;  // Of count * (sum of squares) - sum^2: count * (count - ddof).
  double deviations_inverse = 0;
  bool are_known = false;  // Else no value is certain.

  static MomentDivisors Of(uint64_t count, uint32_t delta_degrees_of_freedom) {
    constexpr uint64_t kCountMax = uint64_t{1} << 26;
    MomentDivisors divisors;
    divisors.are_known = count > 0 && count <= kCountMax;
    divisors.size = static_cast<double>(count);
    divisors.size_inverse = 1 / divisors.size;
    if (count <= delta_degrees_of_freedom) return divisors;
    divisors.deviations = divisors.size * (divisors.size - delta_degrees_of_freedom);
    divisors.deviations_inverse = 1 / divisors.deviations;
    return divisors;
  }
};

struct BoundedMoments {
  BoundedNumber sum;  // A negative zero where all elements are.
  BoundedNumber squares;
  bool are_equal;  // All elements: their variance is 0, which bounds do not tell.

  GRIDFOLD_HD BoundedNumber Mean(const MomentDivisors& by) const {
    return sum.DividedBy(by.size, by.size_inverse);
  }
  // Requires more elements than degrees of freedom are taken from.
  GRIDFOLD_HD BoundedNumber Variance(const MomentDivisors& by) const {
    if (are_equal) return {0, 0, 0};
    return SquareDeviations(sum, squares, by.size).DividedBy(by.deviations, by.deviations_inverse);
  }

  GRIDFOLD_HD BoundedNumber StandardError(const MomentDivisors& by) const {
    return Variance(by).DividedBy(by.size, by.size_inverse).Root();
  }
  GRIDFOLD_HD BoundedNumber RootMeanSquare(const MomentDivisors& by) const {
    return squares.DividedBy(by.size, by.size_inverse).Root();
  }

  // Whether the statistic is one that Value may know.
  GRIDFOLD_HD static constexpr bool Has(Statistic statistic) {
    return statistic == Statistic::kSum || statistic == Statistic::kMean ||
           statistic == Statistic::kL2Norm || statistic == Statistic::kRootMeanSquare ||
           IsOfDeviations(statistic);
  }
  // The value of a statistic of finite elements, if it is certain; returns whether it is.
  GRIDFOLD_HD bool Value(Statistic statistic, const MomentDivisors& by, double& value) const {
    if (!by.are_known) return false;
    if (statistic == Statistic::kSum) return sum.Round(value);
    if (statistic == Statistic::kMean) return Mean(by).Round(value);
    if (statistic == Statistic::kL2Norm) return squares.Root().Round(value);
    if (statistic == Statistic::kRootMeanSquare) return RootMeanSquare(by).Round(value);
    if (!IsOfDeviations(statistic) || by.deviations == 0) return false;
    if (statistic == Statistic::kVariance) return Variance(by).Round(value);
    const bool is_error = statistic == Statistic::kStandardError;
    return (is_error ? StandardError(by) : Variance(by).Root()).Round(value);
  }

 private:
  GRIDFOLD_HD static constexpr bool IsOfDeviations(Statistic statistic) {
    return statistic == Statistic::kVariance || statistic == Statistic::kStandardDeviation ||
           statistic == Statistic::kStandardError;
  }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_BOUNDED_MOMENTS_H_
