// The states of numerics/statistics/reduction_state.h and exact sums to and from the bytes of
// accumulators (bytes.h says how), and their merging. For accumulators and folds only.
//
// Readers check what they read against the number of elements that it stands for, so that merging
// cannot leave the range of any state, and the parts of a state against each other.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_STATE_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_STATE_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/accumulators/bytes.h"
#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels {

// All parts together have at most so many elements.
inline constexpr uint64_t kAccumulatedElementsMax = std::numeric_limits<int64_t>::max();

namespace accumulator_internal {

inline Uint128 Join(const uint64_t* limbs) { return (Uint128{limbs[1]} << kLimbBits) | limbs[0]; }

}  // namespace accumulator_internal

// --- Exact sums. `addend_count` bounds what they may hold.

template <class F, int kPower>
void WriteSum(AccumulatorWriter& writer, const ExactSum<F, kPower>& sum) {
  constexpr int kLimbs = ExactSum<F, kPower>::kLimbs;
  const LimbMagnitude magnitude = LimbMagnitude::OfSigned(sum.limbs(), kLimbs);
  uint64_t limbs[kLimbs] = {};
  for (int i = magnitude.lowest(); i < magnitude.end(); ++i) limbs[i] = magnitude[i];
  writer.Number(sum.flags(), magnitude.is_negative(), limbs, kLimbs);
}

inline void WriteSum(AccumulatorWriter& writer, Int128 sum) {
  const Uint128 bits = sum < 0 ? Uint128{0} - static_cast<Uint128>(sum) : static_cast<Uint128>(sum);
  const uint64_t magnitude[] = {static_cast<uint64_t>(bits),
                                static_cast<uint64_t>(bits >> kLimbBits)};
  writer.Number(0, sum < 0, magnitude, 2);
}

inline void WriteSum(AccumulatorWriter& writer, Uint128 sum) {
  const uint64_t magnitude[] = {static_cast<uint64_t>(sum),
                                static_cast<uint64_t>(sum >> kLimbBits)};
  writer.Number(0, false, magnitude, 2);
}

inline void WriteSum(AccumulatorWriter& writer, const Uint192& sum) {
  writer.Number(0, false, sum.limbs, 3);
}

// `addend_bits` is not used: the format says how many bits a float has.
template <class F, int kPower>
void ReadSum(AccumulatorReader& reader, int, bool has_sign, uint64_t addend_count,
             ExactSum<F, kPower>& sum) {
  using Sum = ExactSum<F, kPower>;
  constexpr int kAddendBits = kPower * (Sum::Format::kExponentLimit - Sum::Format::kLowestExponent);
  uint64_t magnitude[Sum::kLimbs];
  const auto form = reader.Number(magnitude, Sum::kLimbs, kAddendBits, addend_count);
  const bool is_zero = SignificantLimbs(magnitude, Sum::kLimbs) == 0;
  reader.Require(has_sign || !form.negative);
  // Whatever is not 0 was not made of negative zeros.
  reader.Require(is_zero || form.flags == kSawOtherThanNegativeZero);
  sum = Sum();
  sum.AddFlags(form.flags);
  for (int i = 0; i < Sum::kLimbs; ++i) {
    if (form.negative) {
      SubtractAt(sum.mutable_limbs(), Sum::kLimbs, i, magnitude[i]);
    } else {
      sum.mutable_limbs()[i] = magnitude[i];
    }
  }
}

inline void ReadSum(AccumulatorReader& reader, int addend_bits, bool has_sign,
                    uint64_t addend_count, Int128& sum) {
  uint64_t magnitude[2];
  const auto form = reader.Number(magnitude, 2, addend_bits, addend_count);
  reader.Require(form.flags == 0 && (has_sign || !form.negative));
  sum = static_cast<Int128>(accumulator_internal::Join(magnitude));
  if (form.negative) sum = -sum;
}

inline void ReadSum(AccumulatorReader& reader, int addend_bits, bool, uint64_t addend_count,
                    Uint128& sum) {
  uint64_t magnitude[2];
  const auto form = reader.Number(magnitude, 2, addend_bits, addend_count);
  reader.Require(form.flags == 0 && !form.negative);
  sum = accumulator_internal::Join(magnitude);
}

inline void ReadSum(AccumulatorReader& reader, int addend_bits, bool, uint64_t addend_count,
                    Uint192& sum) {
  const auto form = reader.Number(sum.limbs, 3, addend_bits, addend_count);
  reader.Require(form.flags == 0 && !form.negative);
}

// --- Whole states: those of the parts of FullState<S> that are in `parts`.

// Calls f(PartSet<kPart>{}) for each part.
template <class S, class F>
void ForEachPartOf(uint32_t parts, F&& f) {
  if ((parts & kSumPart) != 0) f(PartSet<kSumPart>{});
  if ((parts & kSquaresPart) != 0) f(PartSet<kSquaresPart>{});
  if ((parts & kExtremesPart) != 0) f(PartSet<kExtremesPart>{});
  if ((parts & kTallyPart) != 0) f(PartSet<kTallyPart>{});
  if ((parts & kMagnitudesPart) != 0) f(PartSet<kMagnitudesPart>{});
  if constexpr (IntegerElement<S>) {
    if ((parts & kProductPart) != 0) f(PartSet<kProductPart>{});
    if ((parts & kBitsPart) != 0) f(PartSet<kBitsPart>{});
  }
}

// What a reader knows of the group.
struct GroupFacts {
  uint64_t element_count = 0;  // Not 0.
  bool ignore_nan = false;
};

// Whether parts are checked against each other: not those that this server has just written.
enum class PartsFrom : uint8_t { kAnybody, kHere };

// Parts of states, to and from bytes, and two states together: state.cc has the instances of all
// types, which take long to compile.
template <class S>
void WriteParts(AccumulatorWriter& writer, uint32_t parts, const FullState<S>& state);

template <class T>
void ReadParts(AccumulatorReader& reader, uint32_t parts, const GroupFacts& group, PartsFrom from,
               FullState<ComputeType<T>>& state);

template <class S>
void MergeParts(uint32_t parts, const FullState<S>& other, FullState<S>& state);

template <class S>
void ResetParts(uint32_t parts, FullState<S>& state) {
  ForEachPartOf<S>(parts, [&](auto part) { state.template Part<part>() = {}; });
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_STATE_H_
