// From the state of a group to the values of its statistics.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_STATISTIC_VALUE_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_STATISTIC_VALUE_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/arithmetic/integer_quotient.h"
#include "kernels/numerics/statistics/bounded_limbs.h"
#include "kernels/numerics/statistics/fixed_point_state.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/types/policies.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

// Parts that the value of `statistic` needs. A floating-point product needs none: it has its own
// pass, along numerics/arithmetic/product_tree.h.
GRIDFOLD_HD inline uint32_t PartsOf(Statistic statistic, bool floating_point, bool ignore_nan) {
  // Where NaNs are ignored, the number of elements that took part follows from their tally.
  const uint32_t tally = floating_point && ignore_nan ? kTallyPart : 0;
  switch (statistic) {
    case Statistic::kCount: return tally;
    case Statistic::kSum: return kSumPart | tally;
    case Statistic::kProduct: return floating_point ? 0 : kProductPart;
    case Statistic::kMin:
    case Statistic::kMax:
    case Statistic::kArgmin:
    case Statistic::kArgmax:
    case Statistic::kRange: return kExtremesPart;
    case Statistic::kMean: return kSumPart | tally;
    case Statistic::kVariance:
    case Statistic::kStandardDeviation:
    case Statistic::kStandardError: return kSumPart | kSquaresPart | kTallyPart;
    case Statistic::kL1Norm: return kMagnitudesPart;
    case Statistic::kL2Norm: return kSquaresPart;
    case Statistic::kRootMeanSquare: return kSquaresPart | tally;
    case Statistic::kNonzeroCount:
    case Statistic::kNanCount:
    case Statistic::kInfinityCount: return kTallyPart;
    case Statistic::kAll:
    case Statistic::kAny: return kTallyPart | tally;
    case Statistic::kBitwiseAnd:
    case Statistic::kBitwiseOr:
    case Statistic::kBitwiseXor: return kBitsPart;
  }
  return 0;
}

// Whether the value of `statistic` tells where in its group an element stands. Only then a state's
// extremes need indices, but for whether there are any.
GRIDFOLD_HD inline bool NeedsPlaces(Statistic statistic) {
  switch (statistic) {
    case Statistic::kArgmin:
    case Statistic::kArgmax: return true;
    case Statistic::kCount:
    case Statistic::kSum:
    case Statistic::kProduct:
    case Statistic::kMin:
    case Statistic::kMax:
    case Statistic::kMean:
    case Statistic::kVariance:
    case Statistic::kStandardDeviation:
    case Statistic::kL1Norm:
    case Statistic::kL2Norm:
    case Statistic::kNonzeroCount:
    case Statistic::kNanCount:
    case Statistic::kInfinityCount:
    case Statistic::kAll:
    case Statistic::kAny:
    case Statistic::kBitwiseAnd:
    case Statistic::kBitwiseOr:
    case Statistic::kBitwiseXor:
    case Statistic::kRange:
    case Statistic::kRootMeanSquare:
    case Statistic::kStandardError: return false;
  }
  return true;
}

// What a value depends on besides the elements.
struct ValueRules {
  bool ignore_nan = false;
  bool wrap = false;  // Integer overflow wraps around instead of being an error.
  uint32_t delta_degrees_of_freedom = 0;
};

inline constexpr uint64_t kNanSlot = 0x7FF8'0000'0000'0000u;

// The 8 bytes that a value is answered in; see ValueKind.
template <class I>
GRIDFOLD_HD inline uint64_t Slot(I x) {
  if constexpr (std::is_same_v<I, double> || std::is_same_v<I, float>) {
    // The sign and payload of a NaN depend on the processor and the order of operands: all NaNs are
    // made the same.
    return x != x ? kNanSlot : std::bit_cast<uint64_t>(static_cast<double>(x));
  } else if constexpr (std::is_signed_v<I>) {
    return static_cast<uint64_t>(static_cast<int64_t>(x));
  } else {
    return static_cast<uint64_t>(x);
  }
}

namespace statistic_internal {

GRIDFOLD_HD inline double NotANumber() { return std::numeric_limits<double>::quiet_NaN(); }

// magnitude / divisor, or its square root, rounded once.
GRIDFOLD_HD inline double ExactQuotient(const LimbMagnitude& magnitude, int exponent,
                                        uint64_t divisor, bool is_root) {
  const LeadingBits quotient = LeadingQuotient(magnitude, exponent, divisor);
  const double rounded = RoundToDouble(is_root ? SquareRoot(quotient) : quotient);
  return magnitude.is_negative() ? -rounded : rounded;
}

// The same of a moment; of a square root, one that is not negative.
template <class Moment>
GRIDFOLD_HD inline double Quotient(const Moment& moment, uint64_t divisor, bool is_root = false) {
  if (!moment.is_finite()) return moment.NotFiniteValue();
  uint64_t room[Moment::kLimbs];
  const LimbMagnitude magnitude = moment.Magnitude(room);
  double value;
  const bool is_certain =
      magnitude.end() > 0 && RoundQuotient(BoundedLimbs(magnitude, Moment::kLowestExponent),
                                           static_cast<double>(divisor), is_root, value);
  return is_certain ? value : ExactQuotient(magnitude, Moment::kLowestExponent, divisor, is_root);
}
template <class Moment>
GRIDFOLD_HD inline double Root(const Moment& moment, uint64_t divisor) {
  return Quotient(moment, divisor, true);
}

// (count * sum of squares - sum^2) / (count * (count - ddof) * divisor), or its square root,
// rounded once: the numerator is not rounded. The magnitudes are those of the moments.
template <class T>
GRIDFOLD_HD inline double ExactVariance(const LimbMagnitude& sum, const LimbMagnitude& squares,
                                        uint64_t count, uint64_t ddof, uint64_t divisor,
                                        bool is_root) {
  static_assert(SquaresState<T>::kLowestExponent == 2 * SumState<T>::kLowestExponent);
  // Limbs outside [first, end) are 0, and are neither written nor read.
  uint64_t deviations[SquaresState<T>::kLimbs + 1];
  const int end = squares.end() + 1;
  int first = squares.lowest();
  GRIDFOLD_ROLLED
  while (sum.end() > 0 && first > 2 * sum.lowest()) deviations[--first] = 0;
  Multiply(squares, count, deviations);
  SubtractSquare(deviations, end, sum);
  const LeadingBits variance = LeadingQuotient(
      LimbMagnitude::OfUnsigned(deviations + first, end - first),
      SquaresState<T>::kLowestExponent + first * kLimbBits, count, count - ddof, divisor);
  return RoundToDouble(is_root ? SquareRoot(variance) : variance);
}
template <class T>
GRIDFOLD_HD inline double Variance(const SumState<T>& sum, const SquaresState<T>& squares,
                                   uint64_t count, uint64_t ddof, uint64_t divisor, bool is_root) {
  uint64_t squares_room[SquaresState<T>::kLimbs];
  uint64_t sum_room[SumState<T>::kLimbs];
  const LimbMagnitude of_squares = squares.Magnitude(squares_room);
  const LimbMagnitude of_sum = sum.Magnitude(sum_room);
  if (of_squares.end() == 0) return 0;
  double value;
  const bool is_certain = RoundVariance(BoundedLimbs(of_sum, SumState<T>::kLowestExponent),
                                        BoundedLimbs(of_squares, SquaresState<T>::kLowestExponent),
                                        count, ddof, divisor, is_root, value);
  return is_certain ? value : ExactVariance<T>(of_sum, of_squares, count, ddof, divisor, is_root);
}

}  // namespace statistic_internal

// The 8 bytes of `statistic` for a group of `group_size` elements with the given state, into *slot:
// a ReductionState, or another that has its parts. It must hold PartsOf(statistic); floating-point
// products are not computed here.
template <class State>
GRIDFOLD_HD inline ValueOutcome StatisticValue(Statistic statistic, const State& state,
                                               uint64_t group_size, const ValueRules& rules,
                                               uint64_t* slot) {
  using T = typename State::Element;
  constexpr uint32_t kParts = State::kParts;
  using statistic_internal::NotANumber;
  using statistic_internal::Quotient;
  using statistic_internal::Root;
  using statistic_internal::Variance;
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

  uint64_t count = group_size;
  if constexpr (FloatingElement<T> && (kParts & kTallyPart) != 0) {
    if (rules.ignore_nan) count -= state.template Part<kTallyPart>().nan;
  }

  switch (statistic) {
    case Statistic::kCount: *slot = count; return ValueOutcome::kOk;

    case Statistic::kSum:
      if constexpr ((kParts & kSumPart) != 0) {
        const auto& sum = state.template Part<kSumPart>().sum;
        if constexpr (FloatingElement<T>) {
          *slot = Slot(count == 0 ? 0.0 : sum.Rounded());
        } else {
          *slot = static_cast<uint64_t>(sum);
          if (!rules.wrap && !Fits<Wide>(sum)) return ValueOutcome::kOverflow;
        }
      }
      return ValueOutcome::kOk;

    case Statistic::kProduct:
      if constexpr ((kParts & kProductPart) != 0) {
        const CheckedProduct& product = state.template Part<kProductPart>().product;
        *slot = product.wrapped;
        if (!rules.wrap && !product.template Fits<Wide>()) return ValueOutcome::kOverflow;
      }
      return ValueOutcome::kOk;

    case Statistic::kMin:
    case Statistic::kMax:
    case Statistic::kArgmin:
    case Statistic::kArgmax:
      if constexpr ((kParts & kExtremesPart) != 0) {
        const auto& extremes = state.template Part<kExtremesPart>();
        const bool is_min = statistic == Statistic::kMin || statistic == Statistic::kArgmin;
        const uint64_t index = is_min ? extremes.min.index : extremes.max.index;
        if (statistic == Statistic::kArgmin || statistic == Statistic::kArgmax) {
          *slot = index;
          return index == kNoIndex ? ValueOutcome::kNothing : ValueOutcome::kOk;
        }
        *slot = Slot(is_min ? extremes.min.value : extremes.max.value);
        if (FloatingElement<T> && index == kNoIndex) *slot = Slot(NotANumber());
      }
      return ValueOutcome::kOk;

    case Statistic::kMean:
      if constexpr ((kParts & kSumPart) != 0) {
        const auto& part = state.template Part<kSumPart>();
        if (count == 0) {
          *slot = Slot(NotANumber());
        } else if constexpr (FloatingElement<T>) {
          *slot = Slot(part.sum.Quotient(count));  // Which knows of negative zeros.
        } else {
          *slot = Slot(SignedIntegerQuotient(part.sum, count));
        }
      }
      return ValueOutcome::kOk;

    case Statistic::kRange:
      if constexpr ((kParts & kExtremesPart) != 0) {
        const auto& extremes = state.template Part<kExtremesPart>();
        if constexpr (FloatingElement<T>) {
          *slot =
              Slot(extremes.min.index == kNoIndex ? NotANumber()
                                                  : static_cast<double>(extremes.max.value) -
                                                        static_cast<double>(extremes.min.value));
        } else {
          *slot =
              static_cast<uint64_t>(extremes.max.value) - static_cast<uint64_t>(extremes.min.value);
        }
      }
      return ValueOutcome::kOk;

    case Statistic::kVariance:
    case Statistic::kStandardDeviation:
    case Statistic::kStandardError:
      if constexpr ((kParts & kCorePartSet) == kCorePartSet) {
        const auto& tally = state.template Part<kTallyPart>();
        const bool undefined = count <= rules.delta_degrees_of_freedom || tally.infinite != 0 ||
                               (tally.nan != 0 && !rules.ignore_nan);
        if (undefined) {
          *slot = Slot(NotANumber());
          return ValueOutcome::kOk;
        }
        if constexpr (IntegerElement<T> && sizeof(T) <= 4) {
          if (statistic == Statistic::kVariance && (count >> 32) == 0) {
            *slot = Slot(IntegerVariance(state.template Part<kSumPart>().sum,
                                         state.template Part<kSquaresPart>().sum, count,
                                         rules.delta_degrees_of_freedom));
            return ValueOutcome::kOk;
          }
        }
        *slot = Slot(Variance(state.template Part<kSumPart>(), state.template Part<kSquaresPart>(),
                              count, rules.delta_degrees_of_freedom,
                              statistic == Statistic::kStandardError ? count : 1,
                              statistic != Statistic::kVariance));
      }
      return ValueOutcome::kOk;

    case Statistic::kL1Norm:
      if constexpr ((kParts & kMagnitudesPart) != 0) {
        *slot = Slot(Quotient(state.template Part<kMagnitudesPart>(), 1));
      }
      return ValueOutcome::kOk;

    case Statistic::kL2Norm:
      if constexpr ((kParts & kSquaresPart) != 0) {
        *slot = Slot(Root(state.template Part<kSquaresPart>(), 1));
      }
      return ValueOutcome::kOk;

    case Statistic::kRootMeanSquare:
      if constexpr ((kParts & kSquaresPart) != 0) {
        *slot = Slot(count == 0 ? NotANumber() : Root(state.template Part<kSquaresPart>(), count));
      }
      return ValueOutcome::kOk;

    case Statistic::kNonzeroCount:
    case Statistic::kNanCount:
    case Statistic::kInfinityCount:
    case Statistic::kAll:
    case Statistic::kAny:
      if constexpr ((kParts & kTallyPart) != 0) {
        const auto& tally = state.template Part<kTallyPart>();
        *slot = statistic == Statistic::kNonzeroCount    ? tally.nonzero
                : statistic == Statistic::kNanCount      ? tally.nan
                : statistic == Statistic::kInfinityCount ? tally.infinite
                : statistic == Statistic::kAll           ? (tally.nonzero == count ? 1 : 0)
                                                         : (tally.nonzero != 0 ? 1 : 0);
      }
      return ValueOutcome::kOk;

    case Statistic::kBitwiseAnd:
    case Statistic::kBitwiseOr:
    case Statistic::kBitwiseXor:
      if constexpr ((kParts & kBitsPart) != 0) {
        const auto& bits = state.template Part<kBitsPart>();
        *slot = Slot(statistic == Statistic::kBitwiseAnd  ? bits.all
                     : statistic == Statistic::kBitwiseOr ? bits.any
                                                          : bits.parity);
      }
      return ValueOutcome::kOk;
  }
  return ValueOutcome::kOk;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_STATISTIC_VALUE_H_
