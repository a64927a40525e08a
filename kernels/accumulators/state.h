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
#include "kernels/accumulators/contradictions.h"
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

// --- The parts of a state. T is the element type; states are of its compute type.

template <class S>
void WritePart(AccumulatorWriter& writer, const SumState<S>& part) {
  WriteSum(writer, part.sum);
}
template <class S>
void WritePart(AccumulatorWriter& writer, const SquaresState<S>& part) {
  WriteSum(writer, part.sum);
}
template <class S>
void WritePart(AccumulatorWriter& writer, const MagnitudesState<S>& part) {
  WriteSum(writer, part.sum);
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts& group, SumState<S>& part) {
  ReadSum(reader, 8 * sizeof(T), !std::is_unsigned_v<T>, group.element_count, part.sum);
}
template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts& group, SquaresState<S>& part) {
  ReadSum(reader, 16 * sizeof(T), false, group.element_count, part.sum);
}
template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts& group, MagnitudesState<S>& part) {
  ReadSum(reader, 8 * sizeof(T), false, group.element_count, part.sum);
}

namespace accumulator_internal {

template <class S>
uint64_t BitsOf(S value) {
  if constexpr (std::is_same_v<S, float>) {
    return std::bit_cast<uint32_t>(IsNan(value) ? std::numeric_limits<float>::quiet_NaN() : value);
  } else if constexpr (std::is_same_v<S, double>) {
    return std::bit_cast<uint64_t>(IsNan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

// A value of T, in its compute type.
template <class T>
ComputeType<T> ReadElement(AccumulatorReader& reader) {
  using S = ComputeType<T>;
  const uint64_t bits = reader.Fixed(sizeof(S));
  if constexpr (std::is_same_v<S, double>) {
    const double value = std::bit_cast<double>(bits);
    reader.Require(BitsOf(value) == bits);
    return value;
  } else if constexpr (std::is_same_v<S, float>) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    reader.Require(BitsOf(value) == bits);
    if constexpr (HalfElement<T>) {
      reader.Require(IsNan(value) || static_cast<float>(T::FromDouble(value)) == value);
    }
    return value;
  } else {
    return static_cast<S>(bits);
  }
}

template <class S, bool kIsMax>
void WriteExtreme(AccumulatorWriter& writer, const ExtremeState<S, kIsMax>& extreme) {
  writer.Fixed(BitsOf(extreme.value), sizeof(S));
  writer.Integer(extreme.index);
}

template <class T, class Extreme>
void ReadExtreme(AccumulatorReader& reader, Extreme& extreme) {
  extreme.value = ReadElement<T>(reader);
  extreme.index = reader.Integer();
  reader.Require(extreme.index != kNoIndex);
}

}  // namespace accumulator_internal

template <class S>
void WritePart(AccumulatorWriter& writer, const ExtremesState<S>& part) {
  const bool present = part.min.index != kNoIndex;
  writer.Byte(present ? 1 : 0);
  if (!present) return;
  accumulator_internal::WriteExtreme(writer, part.min);
  accumulator_internal::WriteExtreme(writer, part.max);
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts& group, ExtremesState<S>& part) {
  part = {};
  if (!reader.Bool()) {
    reader.Require(FloatingElement<T> && group.ignore_nan);
    return;
  }
  accumulator_internal::ReadExtreme<T>(reader, part.min);
  accumulator_internal::ReadExtreme<T>(reader, part.max);
  const bool is_nan = IsNan(part.min.value);
  reader.Require(is_nan == IsNan(part.max.value) && !(is_nan && group.ignore_nan));
  reader.Require(!(part.max.value < part.min.value));
}

template <class S>
void WritePart(AccumulatorWriter& writer, const TallyState<S>& part) {
  writer.Integer(part.nonzero);
  writer.Integer(part.nan);
  writer.Integer(part.infinite);
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts& group, TallyState<S>& part) {
  part.nonzero = reader.Integer();
  part.nan = reader.Integer();
  part.infinite = reader.Integer();
  const uint64_t special_max = FloatingElement<T> ? group.element_count : 0;
  reader.Require(part.nonzero <= group.element_count && part.nan <= special_max &&
                 part.infinite <= special_max);
}

namespace accumulator_internal {

inline constexpr uint8_t kProductIsZero = 1;
inline constexpr uint8_t kProductIsTooLarge = 2;
inline constexpr uint8_t kProductIsNegative = 4;

}  // namespace accumulator_internal

// A product is written as far as its value depends on it: where a factor is 0, nothing else.
template <class S>
void WritePart(AccumulatorWriter& writer, const ProductState<S>& part) {
  using namespace accumulator_internal;  // NOLINT
  const CheckedProduct& product = part.product;
  if (product.has_zero) return writer.Byte(kProductIsZero);
  writer.Byte(product.too_large ? kProductIsTooLarge : product.negative ? kProductIsNegative : 0);
  writer.Fixed(product.too_large ? product.wrapped : product.magnitude, 8);
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts&, ProductState<S>& part) {
  using namespace accumulator_internal;  // NOLINT
  part = {};
  CheckedProduct& product = part.product;
  const uint8_t form = reader.Byte();
  product.has_zero = form == kProductIsZero;
  product.too_large = form == kProductIsTooLarge;
  product.negative = form == kProductIsNegative;
  reader.Require(form == 0 || product.has_zero || product.too_large ||
                 (product.negative && std::is_signed_v<T>));
  if (product.has_zero) {
    product.wrapped = 0;
    return;
  }
  const uint64_t bits = reader.Fixed(8);
  if (product.too_large) {
    product.wrapped = bits;
  } else {
    reader.Require(bits != 0);
    product.magnitude = bits;
    product.wrapped = product.negative ? uint64_t{0} - bits : bits;
  }
}

template <class S>
void WritePart(AccumulatorWriter& writer, const BitsState<S>& part) {
  for (const S bits : {part.all, part.any, part.parity}) {
    writer.Fixed(accumulator_internal::BitsOf(bits), sizeof(S));
  }
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts&, BitsState<S>& part) {
  part.all = accumulator_internal::ReadElement<T>(reader);
  part.any = accumulator_internal::ReadElement<T>(reader);
  part.parity = accumulator_internal::ReadElement<T>(reader);
  reader.Require((part.all & ~part.any) == 0 && (part.parity & ~part.any) == 0);
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

template <class S>
void WriteParts(AccumulatorWriter& writer, uint32_t parts, const FullState<S>& state) {
  ForEachPartOf<S>(parts, [&](auto part) { WritePart(writer, state.template Part<part>()); });
}

// Whether parts are checked against each other: not those that this server has just written.
enum class PartsFrom : uint8_t { kAnybody, kHere };

template <class T>
void ReadParts(AccumulatorReader& reader, uint32_t parts, const GroupFacts& group, PartsFrom from,
               FullState<ComputeType<T>>& state) {
  ForEachPartOf<ComputeType<T>>(
      parts, [&](auto part) { ReadPart<T>(reader, group, state.template Part<part>()); });
  if (from == PartsFrom::kHere || !reader.ok()) return;
  reader.Require(IsConsistent<T>(parts, group, state));
}

template <class S>
void ResetParts(uint32_t parts, FullState<S>& state) {
  ForEachPartOf<S>(parts, [&](auto part) { state.template Part<part>() = {}; });
}

template <class S>
void MergeParts(uint32_t parts, const FullState<S>& other, FullState<S>& state) {
  ForEachPartOf<S>(parts, [&](auto part) {
    if constexpr (part == kExtremesPart && FloatingElement<S>) {
      // Zeros of both signs at one index, of parts that were not told where they begin: the
      // negative one counts, whichever comes first.
      const auto settle = [](const auto& from, auto& extreme) {
        const bool tie = from.index == extreme.index && from.value == extreme.value;
        if (tie && std::signbit(from.value)) extreme.value = from.value;
      };
      settle(other.template Part<part>().min, state.template Part<part>().min);
      settle(other.template Part<part>().max, state.template Part<part>().max);
    }
    state.template Part<part>().Merge(other.template Part<part>());
  });
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_STATE_H_
