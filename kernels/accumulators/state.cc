#include "kernels/accumulators/state.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/contradictions.h"

namespace gridfold::kernels {

namespace {

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

template <class S>
void WritePart(AccumulatorWriter& writer, const ExtremesState<S>& part) {
  const bool present = part.min.index != kNoIndex;
  writer.Byte(present ? 1 : 0);
  if (!present) return;
  WriteExtreme(writer, part.min);
  WriteExtreme(writer, part.max);
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts& group, ExtremesState<S>& part) {
  part = {};
  if (!reader.Bool()) {
    reader.Require(FloatingElement<T> && group.ignore_nan);
    return;
  }
  ReadExtreme<T>(reader, part.min);
  ReadExtreme<T>(reader, part.max);
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

inline constexpr uint8_t kProductIsZero = 1;
inline constexpr uint8_t kProductIsTooLarge = 2;
inline constexpr uint8_t kProductIsNegative = 4;

// A product is written as far as its value depends on it: where a factor is 0, nothing else.
template <class S>
void WritePart(AccumulatorWriter& writer, const ProductState<S>& part) {
  const CheckedProduct& product = part.product;
  if (product.has_zero) return writer.Byte(kProductIsZero);
  writer.Byte(product.too_large ? kProductIsTooLarge : product.negative ? kProductIsNegative : 0);
  writer.Fixed(product.too_large ? product.wrapped : product.magnitude, 8);
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts&, ProductState<S>& part) {
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
    writer.Fixed(BitsOf(bits), sizeof(S));
  }
}

template <class T, class S>
void ReadPart(AccumulatorReader& reader, const GroupFacts&, BitsState<S>& part) {
  part.all = ReadElement<T>(reader);
  part.any = ReadElement<T>(reader);
  part.parity = ReadElement<T>(reader);
  reader.Require((part.all & ~part.any) == 0 && (part.parity & ~part.any) == 0);
}

}  // namespace

// --- Whole states.

template <class S>
void WriteParts(AccumulatorWriter& writer, uint32_t parts, const FullState<S>& state) {
  ForEachPartOf<S>(parts, [&](auto part) { WritePart(writer, state.template Part<part>()); });
}

template <class T>
void ReadParts(AccumulatorReader& reader, uint32_t parts, const GroupFacts& group, PartsFrom from,
               FullState<ComputeType<T>>& state) {
  ForEachPartOf<ComputeType<T>>(
      parts, [&](auto part) { ReadPart<T>(reader, group, state.template Part<part>()); });
  if (from == PartsFrom::kHere || !reader.ok()) return;
  reader.Require(IsConsistent<T>(parts, group, state));
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

template void WriteParts<int8_t>(AccumulatorWriter&, uint32_t, const FullState<int8_t>&);
template void WriteParts<int16_t>(AccumulatorWriter&, uint32_t, const FullState<int16_t>&);
template void WriteParts<int32_t>(AccumulatorWriter&, uint32_t, const FullState<int32_t>&);
template void WriteParts<int64_t>(AccumulatorWriter&, uint32_t, const FullState<int64_t>&);
template void WriteParts<uint8_t>(AccumulatorWriter&, uint32_t, const FullState<uint8_t>&);
template void WriteParts<uint16_t>(AccumulatorWriter&, uint32_t, const FullState<uint16_t>&);
template void WriteParts<uint32_t>(AccumulatorWriter&, uint32_t, const FullState<uint32_t>&);
template void WriteParts<uint64_t>(AccumulatorWriter&, uint32_t, const FullState<uint64_t>&);
template void WriteParts<float>(AccumulatorWriter&, uint32_t, const FullState<float>&);
template void WriteParts<double>(AccumulatorWriter&, uint32_t, const FullState<double>&);

template void MergeParts<int8_t>(uint32_t, const FullState<int8_t>&, FullState<int8_t>&);
template void MergeParts<int16_t>(uint32_t, const FullState<int16_t>&, FullState<int16_t>&);
template void MergeParts<int32_t>(uint32_t, const FullState<int32_t>&, FullState<int32_t>&);
template void MergeParts<int64_t>(uint32_t, const FullState<int64_t>&, FullState<int64_t>&);
template void MergeParts<uint8_t>(uint32_t, const FullState<uint8_t>&, FullState<uint8_t>&);
template void MergeParts<uint16_t>(uint32_t, const FullState<uint16_t>&, FullState<uint16_t>&);
template void MergeParts<uint32_t>(uint32_t, const FullState<uint32_t>&, FullState<uint32_t>&);
template void MergeParts<uint64_t>(uint32_t, const FullState<uint64_t>&, FullState<uint64_t>&);
template void MergeParts<float>(uint32_t, const FullState<float>&, FullState<float>&);
template void MergeParts<double>(uint32_t, const FullState<double>&, FullState<double>&);

template void ReadParts<int8_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                FullState<int8_t>&);
template void ReadParts<int16_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                 FullState<int16_t>&);
template void ReadParts<int32_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                 FullState<int32_t>&);
template void ReadParts<int64_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                 FullState<int64_t>&);
template void ReadParts<uint8_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                 FullState<uint8_t>&);
template void ReadParts<uint16_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                  FullState<uint16_t>&);
template void ReadParts<uint32_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                  FullState<uint32_t>&);
template void ReadParts<uint64_t>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                  FullState<uint64_t>&);
template void ReadParts<Float16>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                 FullState<float>&);
template void ReadParts<Bfloat16>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                  FullState<float>&);
template void ReadParts<float>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                               FullState<float>&);
template void ReadParts<double>(AccumulatorReader&, uint32_t, const GroupFacts&, PartsFrom,
                                FullState<double>&);

}  // namespace gridfold::kernels
