// Taking the state of some elements out of the state of a group that they belong to: what remains
// is the state of the other elements, bit for bit. For accumulators only.
//
// Sums, their squares and magnitudes, and counts have differences. Extremes, products and bits have
// none: what is left after the largest element has gone is not in them.
//
// Sums hold flags beside their number, which say what kinds of elements were seen, not how many
// (numerics/sums/exact_sum.h). So, of what remains:
//   infinities, NaNs   Where only the whole has seen one, it remains. Where both have seen one, the
//                      tally tells, if there is one, and else nothing does: that is an error. That
//                      none remains is an error too, unless no elements remain: engines drop the
//                      number of a sum that is not finite.
//   zeros              Where both have seen something else than -0.0, so have the elements that
//                      remain: their sum, where it is 0, is 0.0, as that of x and -x is. This is
//                      wrong where all of them are -0.0, and in no other case.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_STATE_DIFFERENCE_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_STATE_DIFFERENCE_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/state.h"
#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels {

inline constexpr uint32_t kSubtractableParts = kMomentParts | kTallyPart;

enum class Difference : uint8_t {
  kKnown,
  kNeverIn,  // What is taken out was never in the whole.
  kUntold,   // Whether an infinity or a NaN remains.
};

// Says what is wrong; not of kKnown.
inline absl::string_view DescriptionOf(Difference difference) {
  if (difference == Difference::kNeverIn) return "what is taken out was never in it";
  return "it cannot be told whether an infinity or a NaN remains: what is taken out has one too, "
         "and their numbers are not known, or none remains and the sum beside them is lost";
}

// What is known of the elements that remain.
struct Remainder {
  std::optional<uint64_t> taking;  // Those that take part, which ignored NaNs do not.
  bool has_tally = false;          // Whether these are known:
  uint64_t taking_nans = 0;
  uint64_t infinite = 0;
};

namespace accumulator_internal {

// Of the flags kSawNan of the whole and of what is taken out of it, those of what remains, which
// are some elements. `all` has all flags of `taken`. Squares and magnitudes have no negative
// infinity, and only NaN gives both.
inline std::optional<uint32_t> SpecialsLeft(uint32_t all, uint32_t taken, const Remainder& left,
                                            bool is_signed) {
  if (taken == 0 || (!is_signed && taken != all)) return all;
  if (!left.has_tally) return std::nullopt;
  if (left.taking_nans > 0) return kSawNan;
  if (left.infinite > 0 && all != kSawNan) return all;
  return std::nullopt;
}

}  // namespace accumulator_internal

// Whether all that the sum stands for is in `taken`. A sum that others were taken out of may have
// the flag kSawOtherThanNegativeZero of them.
template <class F, int kPower>
bool IsWhole(ExactSum<F, kPower> taken, const ExactSum<F, kPower>& sum) {
  taken.AddFlags(sum.flags() & kSawOtherThanNegativeZero);
  return taken == sum;
}
inline bool IsWhole(const Uint192& taken, const Uint192& sum) {
  return std::equal(std::begin(taken.limbs), std::end(taken.limbs), std::begin(sum.limbs));
}
template <class Integer>
bool IsWhole(Integer taken, Integer sum) {
  return taken == sum;
}

// Takes `taken` out of `sum`.
template <class F, int kPower>
Difference TakeOut(const ExactSum<F, kPower>& taken, const Remainder& left, bool is_signed,
                   ExactSum<F, kPower>& sum) {
  using Sum = ExactSum<F, kPower>;
  // A difference of two sums has a bit more than they.
  static_assert(Sum::kLimbs * kLimbBits > Sum::kBits);
  if ((taken.flags() & ~sum.flags()) != 0) return Difference::kNeverIn;
  if (left.taking == uint64_t{0}) {
    const bool is_gone = IsWhole(taken, sum);
    sum = Sum();
    return is_gone ? Difference::kKnown : Difference::kNeverIn;
  }
  const uint32_t all = sum.flags() & kSawNan;
  const std::optional<uint32_t> specials =
      accumulator_internal::SpecialsLeft(all, taken.flags() & kSawNan, left, is_signed);
  if (!specials.has_value()) return Difference::kUntold;
  Sum difference;
  difference.AddFlags(*specials | (sum.flags() & kSawOtherThanNegativeZero));
  bool borrow = false;
  for (int i = 0; i < Sum::kLimbs && all == 0; ++i) {
    const uint64_t a = sum.limbs()[i];
    const uint64_t b = taken.limbs()[i];
    difference.mutable_limbs()[i] = a - b - (borrow ? 1 : 0);
    borrow = a < b || (a == b && borrow);
  }
  sum = difference;
  return Difference::kKnown;
}

inline Difference TakeOut(Int128 taken, const Remainder&, bool, Int128& sum) {
  return __builtin_sub_overflow(sum, taken, &sum) ? Difference::kNeverIn : Difference::kKnown;
}
inline Difference TakeOut(Uint128 taken, const Remainder&, bool, Uint128& sum) {
  return __builtin_sub_overflow(sum, taken, &sum) ? Difference::kNeverIn : Difference::kKnown;
}
inline Difference TakeOut(const Uint192& taken, const Remainder&, bool, Uint192& sum) {
  const bool is_less =
      std::lexicographical_compare(std::rbegin(sum.limbs), std::rend(sum.limbs),
                                   std::rbegin(taken.limbs), std::rend(taken.limbs));
  sum.Subtract(taken);
  return is_less ? Difference::kNeverIn : Difference::kKnown;
}
inline Difference TakeOut(uint64_t taken, uint64_t& count) {
  return __builtin_sub_overflow(count, taken, &count) ? Difference::kNeverIn : Difference::kKnown;
}

// The parts `parts`, all of them in kSubtractableParts, of some elements of a group of the type T
// are taken out of those of the group, `state`. `left` is how many elements remain; not 0.
template <class T>
Difference TakeOutParts(uint32_t parts, const FullState<ComputeType<T>>& taken,
                        const GroupFacts& left, FullState<ComputeType<T>>& state) {
  Remainder known;
  if (!FloatingElement<T> || !left.ignore_nan) known.taking = left.element_count;
  if ((parts & kTallyPart) != 0) {
    auto& tally = state.template Part<kTallyPart>();
    const auto& gone = taken.template Part<kTallyPart>();
    for (const Difference part :
         {TakeOut(gone.nonzero, tally.nonzero), TakeOut(gone.nan, tally.nan),
          TakeOut(gone.infinite, tally.infinite)}) {
      if (part != Difference::kKnown) return part;
    }
    if (left.ignore_nan && tally.nan > left.element_count) return Difference::kNeverIn;
    known.taking = left.element_count - (left.ignore_nan ? tally.nan : 0);
    known.has_tally = true;
    known.taking_nans = left.ignore_nan ? 0 : tally.nan;
    known.infinite = tally.infinite;
  }
  Difference difference = Difference::kKnown;
  ForEachPartOf<ComputeType<T>>(parts & kMomentParts, [&](auto part) {
    if constexpr ((part & kMomentParts) != 0) {
      if (difference != Difference::kKnown) return;
      difference = TakeOut(taken.template Part<part>().sum, known, part == kSumPart,
                           state.template Part<part>().sum);
    }
  });
  if (difference != Difference::kKnown) return difference;
  // What remains is read as if anybody had sent it: no elements may have led to it.
  AccumulatorWriter writer;
  WriteParts(writer, parts, state);
  AccumulatorReader reader(writer.bytes());
  ReadParts<T>(reader, parts, left, PartsFrom::kAnybody, state);
  return reader.ok() ? Difference::kKnown : Difference::kNeverIn;
}

// Takes `taken`, the state of `taken_count` elements, out of the state of a group of
// `element_count` elements. Where none remain, everything must be gone.
template <class T>
Difference TakeOutGroup(uint32_t parts, bool ignore_nan, uint64_t taken_count,
                        const FullState<ComputeType<T>>& taken, uint64_t& element_count,
                        FullState<ComputeType<T>>& state) {
  if (taken_count == 0) return Difference::kKnown;
  if (taken_count > element_count) return Difference::kNeverIn;
  element_count -= taken_count;
  if (element_count > 0) {
    return TakeOutParts<T>(parts, taken, {element_count, ignore_nan}, state);
  }
  bool is_gone = true;
  ForEachPartOf<ComputeType<T>>(parts, [&](auto part) {
    const auto& all = state.template Part<part>();
    const auto& gone = taken.template Part<part>();
    if constexpr ((part & kMomentParts) != 0) {
      is_gone = is_gone && IsWhole(gone.sum, all.sum);
    } else if constexpr (part == kTallyPart) {
      is_gone = is_gone && gone.nonzero == all.nonzero && gone.nan == all.nan &&
                gone.infinite == all.infinite;
    }
  });
  ResetParts(parts, state);
  return is_gone ? Difference::kKnown : Difference::kNeverIn;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_STATE_DIFFERENCE_H_
