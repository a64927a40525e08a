// What the elements of a floating-point array become where they are added exactly in float64.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_ADDEND_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_ADDEND_H_

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/slice_window.h"
#include "kernels/cpu/reduce/tile_survey.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cpu {

template <std::floating_point S, Moment kMoment>
struct Addend {
  using Bits = MagnitudeBits<S>;
  using Format = FloatFormat<S>;
  static constexpr int kPower = kMoment == Moment::kSquares ? 2 : 1;
  using Sum = ExactSum<S, kPower>;

  // The square of a float64 takes two.
  static constexpr bool kIsPair = kPower == 2 && sizeof(S) == 8;
  static constexpr int kPerElement = kIsPair ? 2 : 1;

  // Units of the smallest addends.
  static constexpr int kUnitMin = std::max(Sum::kLowestExponent, SliceWindow::kUnitMin);

  // Bounds of the numbers whose addends are exact in float64 and below SliceWindow::kTopMax: 1 is
  // the smallest number of the format.
  static constexpr Bits kSmallest =
      kIsPair ? static_cast<Bits>(kUnitMin / 2 + Format::kPrecision - 1 + 1023) << 52 : 1;
  static constexpr Bits kLargest =
      sizeof(S) == 8 ? (static_cast<Bits>(SliceWindow::kTopMax / kPower + 1023) << 52) - 1
                     : kInfinityBits<S> - 1;

  // Calls add(r) for each addend r of x, which is 0 or within the bounds.
  template <class Add>
  static void ForEachOf(S x, Add add) {
    if constexpr (kIsPair) {
      const double square = x * x;
      add(square);
      add(__builtin_fma(x, x, -square));
    } else if constexpr (kPower == 2) {
      add(static_cast<double>(x) * x);
    } else {
      add(static_cast<double>(kMoment == Moment::kMagnitudes ? std::fabs(x) : x));
    }
  }

  // Range of the addends of numbers between `smallest` and `largest`, both within the bounds.
  // `trailing_zeros` is Tile's.
  static AddendRange RangeOf(Bits smallest, Bits largest, int trailing_zeros) {
    return {kPower * (UnitOf(largest) + Format::kPrecision),
            kPower * (UnitOf(smallest) + trailing_zeros)};
  }

  // The smallest magnitude whose addends, and those of all above it, are multiples of 2^unit.
  static Bits SmallestWithUnit(int unit, int trailing_zeros) {
    const int own_unit = (kPower == 2 ? (unit + 1) >> 1 : unit) - trailing_zeros;
    if (own_unit <= Format::kLowestExponent) return 1;
    return static_cast<Bits>(own_unit - Format::kLowestExponent + 1) << (Format::kPrecision - 1);
  }

  // Adds x to a sum, whatever x is.
  static void AddTo(Sum& sum, S x) {
    if constexpr (kPower == 2) {
      sum.AddSquare(x);
    } else {
      sum.Add(kMoment == Moment::kMagnitudes ? std::fabs(x) : x);
    }
  }

  // Adds total * 2^unit to a sum; |total| < 2^127.
  static void AddTotal(Sum& sum, Int128 total, int unit) {
    if (!sum.is_finite()) return;
    const Uint128 magnitude =
        total < 0 ? Uint128{0} - static_cast<Uint128>(total) : static_cast<Uint128>(total);
    sum.AddInteger(magnitude, static_cast<uint32_t>(unit - Sum::kLowestExponent), total < 0);
  }

  // x as digits of the sum, for ExactSum::AddDigits. Requires a finite x.
  template <class Add>
  static void ForEachDigitOf(S x, Add add) {
    const DecomposedFloat d = Decompose(x);
    if constexpr (kPower == 2) {
      ForEachDigit<2 * Format::kPrecision>(Uint128{d.significand} * d.significand, 2 * d.position,
                                           false, add);
    } else {
      ForEachDigit<Format::kPrecision>(d.significand, d.position,
                                       kMoment == Moment::kSum && d.negative, add);
    }
  }

  // The flags that AddTo gives to the sum.
  static uint32_t FlagsOf(S x) {
    return ExactSumFlagsOf(kMoment == Moment::kSum ? x : std::fabs(x));
  }

 private:
  // Exponent of the last bit of a number's significand.
  static int UnitOf(Bits magnitude) {
    const int biased = static_cast<int>(magnitude >> (Format::kPrecision - 1));
    return std::max(biased, 1) - 1 + Format::kLowestExponent;
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_ADDEND_H_
