// Sums of squares and of deviations of float64 numbers as pairs (pair_sum.h), and the values of
// statistics that they tell: nothing need be exact where what is not known of a number does not
// change how it is rounded.
//
// Host and device; compiled without contraction.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SUMS_PAIR_MOMENTS_H_
#define GRIDFOLD_KERNELS_NUMERICS_SUMS_PAIR_MOMENTS_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/numerics/sums/expansion_sum.h"
#include "kernels/numerics/sums/pair_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// A number that differs from high + low by `error` at most; low is some units of high's last bit.
struct BoundedNumber {
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();
  // What is above has all of its bits, and so has what is some hundred bits below it.
  static constexpr double kLeast = 0x1p-900;

  double high;
  double low;
  double error;

  // The nearest float64 if that is certain; returns whether it is.
  GRIDFOLD_HD bool Round(double& rounded) const {
    rounded = low == 0 ? high : high + low;  // A negative zero, maybe.
    // The margin itself is rounded.
    const double margin = error == 0 ? 0 : error + fabs(low) * 0x1p-52;
    return high + (low - margin) == high + (low + margin);
  }

  // Requires an integer from 1 to 2^52.
  GRIDFOLD_HD BoundedNumber DividedBy(double divisor) const {
    return DividedBy(divisor, 1 / divisor);
  }
  // The quotient by a divisor whose rounded inverse is given.
  GRIDFOLD_HD BoundedNumber DividedBy(double divisor, double inverse) const {
    if (high == 0 && low == 0) return *this;
    if (!IsOrdinary()) return {high, low, kUnknown};
    // Wrong by some units of its last bit at most, of which so few go into what is left that this
    // is exact.
    const double quotient = high * inverse;
    const SumAndError rest = SumAndError::Of(fma(-quotient, divisor, high), low);
    const double others = rest.sum * inverse;
    const bool is_exact = rest.error == 0 && fma(-others, divisor, rest.sum) == 0;
    const double rounding =
        is_exact ? 0 : fma(fabs(others), 0x1p-50, 2 * fabs(rest.error) * inverse);
    return {quotient, others, error * inverse * (1 + 0x1p-40) + rounding};
  }

  GRIDFOLD_HD BoundedNumber Root() const {
    if (high == 0 && low == 0) return *this;
    if (!(high > 0) || !IsOrdinary()) return {high, low, kUnknown};
    const double root = sqrt(high);
    const double inverse = 0.5 / root;
    // With r the root of what high is near to, (r + d)^2 = r^2 + 2 r d but for d^2, which is below
    // 2^-50 of that.
    const double others = (fma(-root, root, high) + low) * inverse;
    return {root, others, error * inverse * (1 + 0x1p-40) + fabs(others) * 0x1p-48};
  }

 private:
  GRIDFOLD_HD bool IsOrdinary() const { return fabs(high) > kLeast && fabs(high) < kUnknown; }
};

// The sum of squares, each of which is known but for its smallest bits.
//
// Additions to high, and squares, leave errors that doubles hold. With K additions of elements and
// merges, in a row, the errors of what is added to high are at most K 2^-53 of the sum, and those
// of squares 2^-53 of it: additions of one place in the row are of different elements. Low takes
// them in 2 K additions in a row, each of which loses at most 2^-53 of what it is a sum of.
struct SquaresPair {
  double high = 0;
  double low = 0;

  GRIDFOLD_HD void Add(double x) {
    const double square = x * x;
    const SumAndError next = SumAndError::Of(high, square);
    low += next.error + fma(x, x, -square);
    high = next.sum;
  }
  GRIDFOLD_HD void Merge(const SquaresPair& other) {
    const SumAndError next = SumAndError::Of(high, other.high);
    low = (low + other.low) + next.error;
    high = next.sum;
  }

  // With `chain` additions and merges in a row, below 2^20. Squares that were too small to be held
  // are not in it: nothing is known of a sum that may be of such.
  GRIDFOLD_HD BoundedNumber Bounded(uint32_t chain, bool are_zeros) const {
    const double steps = static_cast<double>(chain + 2);
    const double error = are_zeros                      ? 0
                         : high > BoundedNumber::kLeast ? steps * steps * 0x1p-105 * high
                                                        : BoundedNumber::kUnknown;
    const SumAndError rounded = SumAndError::Of(high, low);
    return {rounded.sum, rounded.error, error};
  }
};

// count * squares - sum^2, of a sum and squares of `count` numbers. Requires a count below 2^26.
//
// Products are exact as two numbers each. Those of one size are added exactly two by two, and of
// the smallest, which are some 2^-105 of the largest, the sum is rounded.
GRIDFOLD_HD inline BoundedNumber SquareDeviations(const BoundedNumber& sum,
                                                  const BoundedNumber& squares, double count) {
  const double positive = count * squares.high;
  const double positive_rest = fma(count, squares.high, -positive);
  const double positive_low = count * squares.low;
  const double positive_low_rest = fma(count, squares.low, -positive_low);
  const double twice = 2 * sum.high;
  const double negative = sum.high * sum.high;
  const double negative_rest = fma(sum.high, sum.high, -negative);
  const double negative_low = twice * sum.low;
  const double negative_low_rest = fma(twice, sum.low, -negative_low);
  const double least = sum.low * sum.low;

  const SumAndError first = SumAndError::Of(positive, -negative);
  const SumAndError rests = SumAndError::Of(positive_rest, -negative_rest);
  const SumAndError lows = SumAndError::Of(positive_low, -negative_low);
  const SumAndError second = SumAndError::Of(rests.sum, lows.sum);
  const SumAndError third = SumAndError::Of(first.error, second.sum);
  const double smallest = ((rests.error + lows.error) + (second.error + third.error)) +
                          ((positive_low_rest - negative_low_rest) - least);
  const double magnitudes =
      ((fabs(rests.error) + fabs(lows.error)) + (fabs(second.error) + fabs(third.error))) +
      ((fabs(positive_low_rest) + fabs(negative_low_rest)) + least);
  const SumAndError result = SumAndError::Of(first.sum, third.sum);
  const double low = result.error + smallest;
  const double rounding = magnitudes == 0 ? 0 : magnitudes * 0x1p-49 + fabs(low) * 0x1p-52;
  const double known = count * squares.error + (fabs(twice) + sum.error) * sum.error;
  const SumAndError rounded = SumAndError::Of(result.sum, low);
  return {rounded.sum, rounded.error, rounding + known * (1 + 0x1p-40)};
}

// A sum as it is known.
GRIDFOLD_HD inline BoundedNumber BoundedSum(const CheckedPair& sum) {
  const SumAndError rounded = SumAndError::Of(sum.high, sum.low);
  // The sum of nothing but negative zeros is a negative zero.
  return {sum.low == 0 ? sum.high : rounded.sum, rounded.error, sum.Error()};
}

// Where deviations of elements from one of them are summed: in units of a power of two, near to the
// largest magnitude, where squares of elements would be too large or too small for doubles.
struct DeviationFrame {
  double scale = 1;
  double unit = 1;    // Its reciprocal.
  double origin = 0;  // The element, scaled.

  GRIDFOLD_HD static DeviationFrame Of(double element, double largest) {
    constexpr int kBias = 1023;
    constexpr int kExponentMax = 1000;  // With which both powers of two have all of their bits.
    DeviationFrame frame;
    const bool is_ordinary = largest >= 0x1p-300 && largest <= 0x1p400;
    if (!is_ordinary && largest != 0) {
      const int field = static_cast<int>(std::bit_cast<uint64_t>(largest) >> 52);
      const int above = field - kBias > kExponentMax ? kExponentMax : field - kBias;
      const int exponent = above < -kExponentMax ? -kExponentMax : above;
      frame.scale = std::bit_cast<double>(static_cast<uint64_t>(kBias - exponent) << 52);
      frame.unit = std::bit_cast<double>(static_cast<uint64_t>(kBias + exponent) << 52);
    }
    frame.origin = element * frame.scale;
    return frame;
  }
};

// Moments of deviations of finite elements. They know what they lost, as CheckedPair does: where
// elements lie far from 0 beside how far they lie from each other, nothing, or next to nothing.
struct DeviationPairs {
  CheckedPair sum;
  CheckedPair squares;
  // Whether an element was so small that bits of it, or of its square, may be below those of
  // doubles. All others are multiples of 2^-453, and products of deviations of 2^-906.
  bool has_small = false;

  GRIDFOLD_HD void Add(double x, const DeviationFrame& frame) {
    constexpr double kSmall = 0x1p-400;
    const double scaled = x * frame.scale;
    has_small = has_small || (x != 0 && fabs(scaled) < kSmall);
    const SumAndError deviation = SumAndError::Of(scaled, -frame.origin);
    const double square = deviation.sum * deviation.sum;
    sum.Add(deviation.sum);
    squares.Add(square);
    squares.AddLow(fma(deviation.sum, deviation.sum, -square));
    if (deviation.error == 0) return;
    sum.AddLow(deviation.error);
    const double product = 2 * deviation.sum * deviation.error;
    squares.AddLow(product);
    squares.lost += fabs(product) * 0x1p-52 + deviation.error * deviation.error;
  }
  GRIDFOLD_HD void Merge(const DeviationPairs& other) {
    sum.Merge(other.sum);
    squares.Merge(other.squares);
    has_small = has_small || other.has_small;
  }

  // The sum of squared deviations of `count` elements, below 2^26.
  GRIDFOLD_HD BoundedNumber SquareDeviations(double count) const {
    // Much more than all that was too small.
    const double small = has_small ? 0x1p-1000 : 0;
    BoundedNumber bounded_sum = BoundedSum(sum);
    BoundedNumber bounded_squares = BoundedSum(squares);
    bounded_sum.error += small;
    bounded_squares.error += small;
    return kernels::SquareDeviations(bounded_sum, bounded_squares, count);
  }
};

// The nearest float64 of a number that is `unit` times what is known, if that is certain; returns
// whether it is. A power of two, whose reciprocal has all of its bits.
GRIDFOLD_HD inline bool RoundScaled(const BoundedNumber& number, double unit, double second_unit,
                                    double& rounded) {
  if (!number.Round(rounded)) return false;
  rounded = rounded * unit * second_unit;
  return rounded == 0 ? number.high == 0 : rounded > BoundedNumber::kLeast;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SUMS_PAIR_MOMENTS_H_
