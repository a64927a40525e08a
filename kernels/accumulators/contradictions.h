// Whether the parts of a group's state can be those of one set of elements: what a forged
// accumulator could say although each of its parts by itself is well-formed, such as a mean above
// the maximum. For state.cc.
//
// Every rule is an exact consequence of what the parts are, so that no state which elements, or
// merging, have led to is refused. The rules do not make a forged accumulator a true one: who can
// change bytes can also make those of other elements. Indices are bounded by nothing that the state
// knows: parts need not follow one another, and may be merged without having been told where they
// begin.
//
// Most states are far from the limits of the rules, so these are first tried with numbers that are
// known within bounds (rough_number.h), which say yes only where they are sure. Where they
// do not, exact ones decide.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_CONTRADICTIONS_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_CONTRADICTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "kernels/accumulators/rough_number.h"
#include "kernels/accumulators/state.h"
#include "kernels/accumulators/wide_number.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels {

// T is the element type; the state's parts that are in `parts` have been read. Rules hold where
// numbers of the kind Number say so.
template <class T, class Number>
class ContradictionFinder {
 public:
  using S = ComputeType<T>;

  ContradictionFinder(uint32_t parts, const GroupFacts& group, const FullState<S>& state)
      : parts_(parts), group_(group), state_(state) {
    ReadMoment(PartSet<kSumPart>{}, sum_);
    ReadMoment(PartSet<kSquaresPart>{}, squares_);
    ReadMoment(PartSet<kMagnitudesPart>{}, magnitudes_);
  }
  ContradictionFinder(const ContradictionFinder&) = delete;
  ContradictionFinder& operator=(const ContradictionFinder&) = delete;

  // True where no rule is broken.
  bool IsConsistent() const {
    return TallyHolds() && ExtremesHold() && SumHolds() && SquaresHold() && MagnitudesHold() &&
           MomentsAgree() && ProductHolds() && BitsHold();
  }

 private:
  static constexpr bool kFloating = FloatingElement<T>;

  // The number of a moment that is there and finite.
  struct KnownMoment {
    uint64_t room[SquaresState<S>::kLimbs];
    std::optional<LimbMagnitude> limbs;
    Number number;

    explicit operator bool() const { return limbs.has_value(); }
    bool is_odd() const {
      return limbs->end() > 0 && limbs->lowest() == 0 && ((*limbs)[0] & 1) != 0;
    }
  };
  template <class Which>
  void ReadMoment(Which part, KnownMoment& moment) {
    if (!Has(part) || !state_.template Part<part>().is_finite()) return;
    moment.limbs = state_.template Part<part>().Magnitude(moment.room);
    moment.number = Number::Of(*moment.limbs);
  }
  // Whether they have the same magnitude.
  static bool AreAlike(const KnownMoment& a, const KnownMoment& b) {
    if (a.limbs->lowest() != b.limbs->lowest() || a.limbs->end() != b.limbs->end()) return false;
    for (int i = a.limbs->lowest(); i < a.limbs->end(); ++i) {
      if ((*a.limbs)[i] != (*b.limbs)[i]) return false;
    }
    return true;
  }

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

  static Number NumberOf(S x) {
    if constexpr (kFloating) {
      const DecomposedFloat d = Decompose(x);
      return Number::Of(d.significand, d.negative, d.position);
    } else {
      return Number::Of(kernels::Magnitude(x), IsNegative(x));
    }
  }
  static Number CountOf(uint64_t count) { return Number::Of(count); }

  // The largest magnitude that an element can have.
  static Number TypeBound() {
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

  static auto SizeOf(S x) {
    if constexpr (kFloating) {
      return std::fabs(x);
    } else {
      return kernels::Magnitude(x);
    }
  }

  // The largest magnitude of the elements where the extremes are finite numbers; else TypeBound.
  Number MagnitudeBound() const {
    if (!HasNumbers()) return TypeBound();
    const bool is_smallest = SizeOf(smallest()) > SizeOf(largest());
    return NumberOf(is_smallest ? smallest() : largest()).Magnitude();
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
    if constexpr (kFloating) {
      if (!FlagsHold(state_.template Part<kSumPart>(), /*is_signed=*/true)) return false;
    }
    if (!sum_) return true;
    const Number& sum = sum_.number;
    if (!(sum.Magnitude() <= CountOf(nonzero_max()) * MagnitudeBound())) return false;
    if (!HasNumbers() || !KnowsTaking()) return true;
    // One element is the smallest, one the largest (or both are one), the others lie between.
    const Number low = NumberOf(smallest());
    const Number high = NumberOf(largest());
    if (taking() == 1) return sum == low;
    const Number others = CountOf(taking() - 1);
    return others * low + high <= sum && sum <= low + others * high;
  }

  bool SquaresHold() const {
    if (!Has(kSquaresPart)) return true;
    if constexpr (kFloating) {
      if (!FlagsHold(state_.template Part<kSquaresPart>(), /*is_signed=*/false)) return false;
    }
    if (!squares_) return true;
    const Number& squares = squares_.number;
    const Number bound = MagnitudeBound();
    if (!(squares <= CountOf(nonzero_max()) * (bound * bound))) return false;
    if (Has(kTallyPart) && !(squares >= CountOf(tally().nonzero))) return false;
    if (!HasNumbers()) return true;
    const Number low = NumberOf(smallest());
    const Number high = NumberOf(largest());
    return smallest() == largest() ? squares >= low * low : squares >= low * low + high * high;
  }

  bool MagnitudesHold() const {
    if (!Has(kMagnitudesPart)) return true;
    if constexpr (kFloating) {
      if (!FlagsHold(state_.template Part<kMagnitudesPart>(), /*is_signed=*/false)) return false;
    }
    if (!magnitudes_) return true;
    const Number& magnitudes = magnitudes_.number;
    if (!(magnitudes <= CountOf(nonzero_max()) * MagnitudeBound())) return false;
    if (Has(kTallyPart) && !(magnitudes >= CountOf(tally().nonzero))) return false;
    if (!HasNumbers()) return true;
    const Number low = NumberOf(smallest()).Magnitude();
    const Number high = NumberOf(largest()).Magnitude();
    return smallest() == largest() ? magnitudes >= low : magnitudes >= low + high;
  }

  // What sums of the same numbers, of their magnitudes and of their squares have to do with one
  // another.
  bool MomentsAgree() const {
    if (sum_ && magnitudes_ && !SumIsOfMagnitudes()) return false;
    if (!squares_) return true;
    // Cauchy and Schwarz: no variance is negative.
    const Number bound = CountOf(nonzero_max()) * squares_.number;
    if (sum_ && !(sum_.number * sum_.number <= bound)) return false;
    if (magnitudes_ && !(magnitudes_.number * magnitudes_.number <= bound)) return false;
    if (kFloating) return true;
    // Integers are even or odd as their squares are.
    return (!sum_ || sum_.is_odd() == squares_.is_odd()) &&
           (!magnitudes_ || magnitudes_.is_odd() == squares_.is_odd());
  }

  bool SumIsOfMagnitudes() const {
    // They differ by twice the negative elements.
    if (sum_.is_odd() != magnitudes_.is_odd()) return false;
    const bool are_alike = AreAlike(sum_, magnitudes_);
    if (!HasNumbers() || (smallest() < S{0} && largest() > S{0})) {
      return are_alike || sum_.number.Magnitude() <= magnitudes_.number;
    }
    return are_alike &&
           (sum_.limbs->end() == 0 || sum_.limbs->is_negative() == (smallest() < S{0}));
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
      if (Has(kSumPart) && sum_.is_odd() != is_odd) {
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
  KnownMoment sum_;
  KnownMoment squares_;
  KnownMoment magnitudes_;
};

// Whether the parts do not contradict each other.
template <class T>
bool IsConsistent(uint32_t parts, const GroupFacts& group, const FullState<ComputeType<T>>& state) {
  // The square of a sum is the longest number.
  using Wide = WideNumber<2 * SumState<ComputeType<T>>::kLimbs + 4>;
  return ContradictionFinder<T, RoughNumber>(parts, group, state).IsConsistent() ||
         ContradictionFinder<T, Wide>(parts, group, state).IsConsistent();
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_CONTRADICTIONS_H_
