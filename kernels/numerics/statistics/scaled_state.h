// The state of a group of float64 elements whose sum, and sum of squares, are integers of few limbs
// times a power of two. It is much shorter than a ReductionState, and has the parts of one with
// kCorePartSet, for numerics/statistics/statistic_value.h. Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_SCALED_STATE_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_SCALED_STATE_H_

#include <bit>
#include <cstdint>

#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// An integer in two's complement.
template <int kLimbCount>
struct LimbMoment : IntegerMoment<kLimbCount> {
  static constexpr int kLimbs = kLimbCount;
  uint64_t limbs[kLimbs] = {};

  GRIDFOLD_HD LimbMagnitude Magnitude(uint64_t* /*room*/) const {
    return LimbMagnitude::OfSigned(limbs, kLimbs);
  }
  // Adds +-magnitude * 2^position.
  GRIDFOLD_HD void Add(uint64_t magnitude, int position, bool negative) {
    const Uint128 shifted = Uint128{magnitude} << position % kLimbBits;
    if (negative) {
      SubtractAt(limbs, kLimbs, position / kLimbBits, shifted);
    } else {
      AddAt(limbs, kLimbs, position / kLimbBits, shifted);
    }
  }
  GRIDFOLD_HD void Add(Uint128 magnitude, int position, bool negative) {
    Add(static_cast<uint64_t>(magnitude), position, negative);
    Add(static_cast<uint64_t>(magnitude >> kLimbBits), position + kLimbBits, negative);
  }
};

// The tag of numbers that are such integers.
struct ScaledInteger {};
template <>
struct SumState<ScaledInteger> : LimbMoment<4> {};
template <>
struct SquaresState<ScaledInteger> : LimbMoment<6> {};

// Requires that 2^exponent, and every value that is asked for, are normal numbers.
GRIDFOLD_HD inline double Scaled(double x, int exponent) {
  constexpr int kBias = 1023;
  return x * std::bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << 52);
}

struct ScaledSum {
  SumState<ScaledInteger> units;
  int exponent;
  bool is_negative_zero;  // A sum of nothing but negative zeros.

  GRIDFOLD_HD double Quotient(uint64_t divisor) const {
    if (is_negative_zero) return -0.0;
    return Scaled(statistic_internal::Quotient(units, divisor), exponent);
  }
  GRIDFOLD_HD double Rounded() const { return Quotient(1); }
};
struct ScaledSquares {
  SquaresState<ScaledInteger> units;
  int exponent;
};

// Parts of a state that have them.
struct ScaledSumPart {
  ScaledSum sum;
};
struct ScaledSquaresPart {
  ScaledSquares sum;
};

GRIDFOLD_HD inline double Root(const ScaledSquaresPart& squares, uint64_t divisor) {
  return Scaled(statistic_internal::Root(squares.sum.units, divisor), squares.sum.exponent / 2);
}
GRIDFOLD_HD inline double Variance(const ScaledSumPart& sum, const ScaledSquaresPart& squares,
                                   uint64_t count, uint64_t ddof, uint64_t divisor, bool is_root) {
  const double units =
      statistic_internal::Variance(sum.sum.units, squares.sum.units, count, ddof, divisor, is_root);
  return Scaled(units, is_root ? sum.sum.exponent : squares.sum.exponent);
}

// In units of 2^exponent, and of squares 4^exponent.
class ScaledState {
 public:
  using Element = double;
  static constexpr uint32_t kParts = kCorePartSet;

  GRIDFOLD_HD explicit ScaledState(int exponent) {
    sum_.sum = {{}, exponent, false};
    squares_.sum = {{}, 2 * exponent};
  }

  // Adds a normal number, a multiple of the unit.
  GRIDFOLD_HD void AddMoments(double x) {
    const DecomposedFloat d = Decompose(x);
    const int position =
        static_cast<int>(d.position) + FloatFormat<double>::kLowestExponent - sum_.sum.exponent;
    sum_.sum.units.Add(d.significand, position, d.negative);
    squares_.sum.units.Add(Uint128{d.significand} * d.significand, 2 * position, false);
  }

  template <uint32_t kPart>
  GRIDFOLD_HD auto& Part() {
    return PartOf<kPart>(*this);
  }
  template <uint32_t kPart>
  GRIDFOLD_HD const auto& Part() const {
    return PartOf<kPart>(*this);
  }

  // The state in the form that other kernels have.
  GRIDFOLD_HD ReductionState<double, kParts> Expanded() const {
    ReductionState<double, kParts> state;
    auto& sum = state.template Part<kSumPart>().sum;
    auto& squares = state.template Part<kSquaresPart>().sum;
    sum.AddFlags(sum_.sum.is_negative_zero ? 0 : kSawOtherThanNegativeZero);
    squares.AddFlags(kSawOtherThanNegativeZero);
    AddUnits(sum_.sum.units, sum_.sum.exponent, sum);
    AddUnits(squares_.sum.units, squares_.sum.exponent, squares);
    state.template Part<kExtremesPart>() = extremes_;
    state.template Part<kTallyPart>() = tally_;
    return state;
  }

 private:
  template <uint32_t kPart, class State>
  GRIDFOLD_HD static auto& PartOf(State& state) {
    if constexpr (kPart == kSumPart) {
      return state.sum_;
    } else if constexpr (kPart == kSquaresPart) {
      return state.squares_;
    } else if constexpr (kPart == kExtremesPart) {
      return state.extremes_;
    } else {
      static_assert(kPart == kTallyPart);
      return state.tally_;
    }
  }

  template <class Units, class Sum>
  GRIDFOLD_HD static void AddUnits(const Units& units, int exponent, Sum& sum) {
    const LimbMagnitude magnitude = LimbMagnitude::OfSigned(units.limbs, Units::kLimbs);
    GRIDFOLD_ROLLED
    for (int i = magnitude.lowest(); i < magnitude.end(); ++i) {
      const int position = exponent - Sum::kLowestExponent + i * kLimbBits;
      sum.AddInteger(magnitude[i], static_cast<uint32_t>(position), magnitude.is_negative());
    }
  }

  ScaledSumPart sum_;
  ScaledSquaresPart squares_;
  ExtremesState<double> extremes_;
  TallyState<double> tally_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_SCALED_STATE_H_
