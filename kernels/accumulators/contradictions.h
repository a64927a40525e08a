// Whether the parts of a group's state can be those of one set of elements: what a forged
// accumulator could say although each of its parts by itself is well-formed, such as a mean above
// the maximum. For state.h.
//
// Every rule is an exact consequence of what the parts are, so that no state which elements, or
// merging, have led to is refused. The rules do not make a forged accumulator a true one: who can
// change bytes can also make those of other elements. Indices are bounded by nothing that the state
// knows: parts need not follow one another, and may be merged without having been told where they
// begin.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_CONTRADICTIONS_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_CONTRADICTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/accumulators/wide_number.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels {

// What a reader knows of the group.
struct GroupFacts {
  uint64_t element_count = 0;  // Not 0.
  bool ignore_nan = false;
};

// T is the element type; the state's parts that are in `parts` have been read.
template <class T>
class ContradictionFinder {
 public:
  using S = ComputeType<T>;

  ContradictionFinder(uint32_t parts, const GroupFacts& group, const FullState<S>& state)
      : parts_(parts), group_(group), state_(state) {}

  // True where no rule is broken.
  bool IsConsistent() const {
    return TallyHolds() && ExtremesHold() && SumHolds() && SquaresHold() && MagnitudesHold() &&
           MomentsAgree() && ProductHolds() && BitsHold();
  }

 private:
  static constexpr bool kFloating = FloatingElement<T>;
  // The square of a sum is the longest number.
  using Wide = WideNumber<2 * SumState<S>::kLimbs + 4>;

  bool Has(uint32_t part) const { return (parts_ & part) != 0; }
  const auto& tally() const { return state_.template Part<kTallyPart>(); }
  const auto& extremes() const { return state_.template Part<kExtremesPart>(); }
  bool HasExtremes() const { return Has(kExtremesPart) && extremes().min.index != kNoIndex; }
  S smallest() const { return extremes().min.value; }
  S largest() const { return extremes().max.value; }
  // Whether both are known, and numbers.
  bool HasNumbers() const { return HasExtremes() && !IsNan(smallest()); }

  // --- How many elements took part; at most so many where that is not known.

  bool KnowsTaking() const { return !kFloating || !group_.ignore_nan || Has(kTallyPart); }
  uint64_t taking() const {
    const bool leaves_out = kFloating && group_.ignore_nan && Has(kTallyPart);
    return group_.element_count - (leaves_out ? tally().nan : 0);
  }
  uint64_t nonzero_max() const { return Has(kTallyPart) ? tally().nonzero : taking(); }
  // NaNs that took part.
  uint64_t taking_nans() const { return group_.ignore_nan ? 0 : tally().nan; }

  // --- Numbers, in units of the format's smallest or of 1.

  static Wide NumberOf(S x) {
    if constexpr (kFloating) {
      const DecomposedFloat d = Decompose(x);
      return Wide::Of(d.significand, d.negative, d.position);
    } else {
      return Wide::Of(kernels::Magnitude(x), IsNegative(x));
    }
  }
  static Wide CountOf(uint64_t count) { return Wide::Of(count); }

  template <class Moment>
  static Wide NumberOfMoment(const Moment& moment) {
    uint64_t room[Moment::kLimbs];
    return Wide::Of(moment.Magnitude(room));
  }

  // The largest magnitude that an element can have.
  static Wide TypeBound() {
    if constexpr (std::is_same_v<T, Float16>) {
      return NumberOf(65504.0F);
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
      return NumberOf(0x1.FEp127F);
    } else if constexpr (kFloating || std::is_unsigned_v<T>) {
      return NumberOf(std::numeric_limits<S>::max());
    } else {
      return NumberOf(std::numeric_limits<S>::min()).Magnitude();
    }
  }

  // The largest magnitude of the elements where the extremes are finite numbers; else TypeBound.
  Wide MagnitudeBound() const {
    if (!HasNumbers()) return TypeBound();
    return std::max(NumberOf(smallest()).Magnitude(), NumberOf(largest()).Magnitude());
  }

  // --- The rules.

  bool TallyHolds() const {
    if (!Has(kTallyPart)) return true;
    const auto& t = tally();
    if (group_.ignore_nan) {
      return t.nan <= group_.element_count && t.infinite <= t.nonzero && t.nonzero <= taking();
    }
    // NaNs and infinities are other than zero.
    return t.nan + t.infinite <= t.nonzero && t.nonzero <= group_.element_count;
  }

  bool ExtremesHold() const {
    if (!Has(kExtremesPart)) return true;
    if (Has(kTallyPart) && HasExtremes() != (taking() > 0)) return false;
    if (!HasExtremes()) return true;
    const bool same_index = extremes().min.index == extremes().max.index;
    if (Has(kTallyPart) && IsNan(smallest()) != (taking_nans() > 0)) return false;
    if (IsNan(smallest())) return same_index;
    // Equal extremes are the same, first, element; and one element is both.
    if (smallest() == largest()) {
      if (!same_index) return false;
    } else if (KnowsTaking() && taking() == 1) {
      return false;
    }
    return !Has(kTallyPart) || (InfinitiesHold() && ZerosHold());
  }

  bool InfinitiesHold() const {
    if constexpr (kFloating) {
      const uint64_t infinite = tally().infinite;
      const bool lowest_is = std::isinf(smallest());
      const bool highest_is = std::isinf(largest());
      const uint64_t seen = smallest() == largest() ? lowest_is : lowest_is + highest_is;
      return infinite >= seen && (infinite > 0) == (seen > 0) &&
             (infinite == taking()) == AreAllInfinite();
    }
    return true;
  }

  // Whether there is no finite element, by the extremes and the tally.
  bool AreAllInfinite() const {
    if (smallest() == largest()) return std::isinf(smallest());
    // Infinities of both signs: finite elements may or may not be between them.
    return std::isinf(smallest()) && std::isinf(largest()) && tally().infinite == taking();
  }

  bool ZerosHold() const {
    const uint64_t zeros = taking() - tally().nonzero;
    const bool is_zero_between = smallest() <= S{0} && largest() >= S{0};
    const bool has_zero = smallest() == S{0} || largest() == S{0};
    const bool are_all_zero = smallest() == S{0} && largest() == S{0};
    return (zeros == 0 || is_zero_between) && (!has_zero || zeros > 0) &&
           are_all_zero == (tally().nonzero == 0);
  }

  // Whether the data allow what a sum has seen beside finite numbers. Its addends are the elements
  // (`is_signed`), or their squares or magnitudes.
  template <class Moment>
  bool FlagsHold(const Moment& moment, bool is_signed) const {
    const uint32_t flags = moment.sum.flags();
    const bool positive = (flags & kSawPositiveInfinity) != 0;
    const bool negative = (flags & kSawNegativeInfinity) != 0;
    if ((positive || negative) && (flags & kSawOtherThanNegativeZero) == 0) return false;
    // Only NaN gives both flags where no number is negative.
    if (!is_signed && negative && (!positive || group_.ignore_nan)) return false;
    if (KnowsTaking()) {
      if (taking() == 0 && flags != 0) return false;
      if (!is_signed && taking() > 0 && (flags & kSawOtherThanNegativeZero) == 0) return false;
    }
    if (Has(kTallyPart)) {
      const uint64_t least = (positive ? 1 : 0) + (negative ? 1 : 0);
      if (taking_nans() > 0) {
        if (least != 2) return false;
      } else if ((least > 0) != (tally().infinite > 0) || least > tally().infinite ||
                 (negative && !is_signed)) {
        return false;
      }
      if (tally().nonzero > 0 && (flags & kSawOtherThanNegativeZero) == 0) return false;
    }
    if (!HasExtremes()) return true;
    if (IsNan(smallest())) return positive && negative;
    const bool has_lowest = std::isinf(smallest()) && smallest() < S{0};
    const bool has_highest = std::isinf(largest()) && largest() > S{0};
    if (!is_signed) return positive == (has_lowest || has_highest) && !negative;
    if (positive != has_highest || negative != has_lowest) return false;
    const bool all_negative_zeros = smallest() == S{0} && largest() == S{0} &&
                                    std::signbit(smallest()) && std::signbit(largest());
    return flags != 0 || all_negative_zeros;
  }

  bool SumHolds() const {
    if (!Has(kSumPart)) return true;
    const auto& part = state_.template Part<kSumPart>();
    if constexpr (kFloating) {
      if (!FlagsHold(part, /*is_signed=*/true)) return false;
    }
    if (!part.is_finite()) return true;
    const Wide sum = NumberOfMoment(part);
    if (sum.Magnitude() > CountOf(nonzero_max()) * MagnitudeBound()) return false;
    if (!HasNumbers() || !KnowsTaking()) return true;
    // One element is the smallest, one the largest (or both are one), the others lie between.
    const Wide low = NumberOf(smallest());
    const Wide high = NumberOf(largest());
    if (taking() == 1) return sum == low;
    const Wide others = CountOf(taking() - 1);
    return others * low + high <= sum && sum <= low + others * high;
  }

  bool SquaresHold() const {
    if (!Has(kSquaresPart)) return true;
    const auto& part = state_.template Part<kSquaresPart>();
    if constexpr (kFloating) {
      if (!FlagsHold(part, /*is_signed=*/false)) return false;
    }
    if (!part.is_finite()) return true;
    const Wide squares = NumberOfMoment(part);
    const Wide bound = MagnitudeBound();
    if (squares > CountOf(nonzero_max()) * (bound * bound)) return false;
    if (Has(kTallyPart) && squares < CountOf(tally().nonzero)) return false;
    if (!HasNumbers()) return true;
    const Wide low = NumberOf(smallest());
    const Wide high = NumberOf(largest());
    return smallest() == largest() ? squares >= low * low : squares >= low * low + high * high;
  }

  bool MagnitudesHold() const {
    if (!Has(kMagnitudesPart)) return true;
    const auto& part = state_.template Part<kMagnitudesPart>();
    if constexpr (kFloating) {
      if (!FlagsHold(part, /*is_signed=*/false)) return false;
    }
    if (!part.is_finite()) return true;
    const Wide magnitudes = NumberOfMoment(part);
    if (magnitudes > CountOf(nonzero_max()) * MagnitudeBound()) return false;
    if (Has(kTallyPart) && magnitudes < CountOf(tally().nonzero)) return false;
    if (!HasNumbers()) return true;
    const Wide low = NumberOf(smallest()).Magnitude();
    const Wide high = NumberOf(largest()).Magnitude();
    return smallest() == largest() ? magnitudes >= low : magnitudes >= low + high;
  }

  // What sums of the same numbers, of their magnitudes and of their squares have to do with one
  // another.
  bool MomentsAgree() const {
    const auto is_known = [&](auto part) {
      return Has(part) && state_.template Part<part>().is_finite();
    };
    const bool has_sum = is_known(PartSet<kSumPart>{});
    const bool has_squares = is_known(PartSet<kSquaresPart>{});
    const bool has_magnitudes = is_known(PartSet<kMagnitudesPart>{});
    Wide sum;
    Wide squares;
    Wide magnitudes;
    if (has_sum) sum = NumberOfMoment(state_.template Part<kSumPart>());
    if (has_squares) squares = NumberOfMoment(state_.template Part<kSquaresPart>());
    if (has_magnitudes) magnitudes = NumberOfMoment(state_.template Part<kMagnitudesPart>());
    if (has_sum && has_magnitudes && !SumIsOfMagnitudes(sum, magnitudes)) return false;
    if (!has_squares) return true;
    // Cauchy and Schwarz: no variance is negative.
    const Wide bound = CountOf(nonzero_max()) * squares;
    if (has_sum && sum * sum > bound) return false;
    if (has_magnitudes && magnitudes * magnitudes > bound) return false;
    if (kFloating) return true;
    // Integers are even or odd as their squares are.
    return (!has_sum || sum.is_odd() == squares.is_odd()) &&
           (!has_magnitudes || magnitudes.is_odd() == squares.is_odd());
  }

  bool SumIsOfMagnitudes(const Wide& sum, const Wide& magnitudes) const {
    // They differ by twice the negative elements.
    if (sum.Magnitude() > magnitudes || sum.is_odd() != magnitudes.is_odd()) return false;
    if (!HasNumbers()) return true;
    if (smallest() >= S{0}) return sum == magnitudes;
    return largest() > S{0} || sum == -magnitudes;
  }

  bool ProductHolds() const {
    if constexpr (!kFloating) {
      if (!Has(kProductPart)) return true;
      const CheckedProduct& product = state_.template Part<kProductPart>().product;
      if (Has(kTallyPart) && product.has_zero != (tally().nonzero < taking())) return false;
      if (!HasExtremes()) return true;
      const bool may_have_zero = smallest() <= S{0} && largest() >= S{0};
      const bool must_have_zero = smallest() == S{0} || largest() == S{0};
      if (product.has_zero ? !may_have_zero : must_have_zero) return false;
      if (product.has_zero) return true;
      if (product.negative && smallest() >= S{0}) return false;
      const uint64_t bound =
          std::max<uint64_t>(kernels::Magnitude(smallest()), kernels::Magnitude(largest()));
      if (!product.too_large) {
        if (product.magnitude < bound) return false;
        return taking() > 1 ||
               (product.magnitude == bound && product.negative == IsNegative(smallest()));
      }
      // Too large for 64 bits: as many factors of the largest magnitude must be so.
      return bound > 1 &&
             std::log2(static_cast<double>(bound)) * static_cast<double>(taking()) >= 63.9;
    }
    return true;
  }

  bool BitsHold() const {
    if constexpr (!kFloating) {
      if (!Has(kBitsPart)) return true;
      const auto& bits = state_.template Part<kBitsPart>();
      const S parity_of_all = taking() % 2 == 1 ? bits.all : S{0};
      // A bit of all elements is in the exclusive or where there is an odd number of them.
      if (static_cast<S>(bits.parity & bits.all) != parity_of_all) return false;
      if (taking() == 1 && bits.all != bits.any) return false;
      if (Has(kTallyPart)) {
        if ((bits.any == 0) != (tally().nonzero == 0)) return false;
        if (bits.all != 0 && tally().nonzero != taking()) return false;
      }
      const bool is_odd = (bits.parity & 1) != 0;
      if (Has(kSumPart) && NumberOfMoment(state_.template Part<kSumPart>()).is_odd() != is_odd) {
        return false;
      }
      if (!HasExtremes()) return true;
      for (const S extreme : {smallest(), largest()}) {
        if ((bits.all & ~extreme) != 0 || (extreme & ~bits.any) != 0) return false;
      }
      return bits.all != bits.any || smallest() == largest();
    }
    return true;
  }

  const uint32_t parts_;
  const GroupFacts& group_;
  const FullState<S>& state_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_CONTRADICTIONS_H_
