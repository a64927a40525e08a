#include "client/load/work/element_encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gridfold::load {
namespace {

using client::ElementType;

// `value` with so many bits of significand, hidden one included, and none below 2^lowest_place.
double RoundToBits(double value, int significand_bits, int lowest_place) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int place = std::max(exponent - significand_bits, lowest_place);
  return std::ldexp(std::nearbyint(std::ldexp(value, -place)), place);
}

double Bounded(double value, double largest) {
  if (std::abs(value) <= largest) return value;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

constexpr double kFloat16Max = 65504;
constexpr double kBfloat16Max = 0x1.FEp127;

double RoundToFloat16(double value) { return RoundToBits(value, 11, -24); }
double RoundToBfloat16(double value) { return RoundToBits(value, 8, -133); }

template <typename Element, typename Value, typename Convert>
std::string Encode(std::span<const Value> values, Convert convert) {
  std::string bytes(values.size() * sizeof(Element), '\0');
  char* out = bytes.data();
  for (const Value value : values) {
    const Element element = convert(value);
    std::memcpy(out, &element, sizeof(element));
    out += sizeof(element);
  }
  return bytes;
}

template <typename Element, typename Value>
std::string Cast(std::span<const Value> values) {
  return Encode<Element>(values, [](Value value) { return static_cast<Element>(value); });
}

template <typename Value>
std::string EncodeAs(ElementType type, std::span<const Value> values) {
  switch (type) {
    case ElementType::kInt8: return Cast<int8_t>(values);
    case ElementType::kInt16: return Cast<int16_t>(values);
    case ElementType::kInt32: return Cast<int32_t>(values);
    case ElementType::kInt64: return Cast<int64_t>(values);
    case ElementType::kUint8:
    case ElementType::kBool: return Cast<uint8_t>(values);
    case ElementType::kUint16: return Cast<uint16_t>(values);
    case ElementType::kUint32: return Cast<uint32_t>(values);
    case ElementType::kUint64: return Cast<uint64_t>(values);
    case ElementType::kFloat16:
      return Encode<uint16_t>(
          values, [](Value value) { return ToFloat16Bits(static_cast<double>(value)); });
    case ElementType::kBfloat16:
      return Encode<uint16_t>(
          values, [](Value value) { return ToBfloat16Bits(static_cast<double>(value)); });
    case ElementType::kFloat32: return Cast<float>(values);
    case ElementType::kFloat64: return Cast<double>(values);
  }
  return "";
}

}  // namespace

uint16_t ToFloat16Bits(double value) {
  const double rounded = RoundToFloat16(value);
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (rounded == 0) return sign;
  if (std::abs(rounded) > kFloat16Max) return sign | 0x7C00;
  // Five bits of exponent biased by 15, then ten bits of fraction.
  const uint64_t bits = std::bit_cast<uint64_t>(std::abs(rounded));
  const auto exponent = static_cast<int>(bits >> 52) - 1023 + 15;
  return static_cast<uint16_t>(sign | exponent << 10 | (bits >> 42 & 0x3FF));
}

uint16_t ToBfloat16Bits(double value) {
  // The upper half of a float that holds the rounded number exactly.
  const auto rounded = static_cast<float>(RoundToBfloat16(value));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded) >> 16);
}

double RoundedToType(ElementType type, double value) {
  if (type == ElementType::kFloat16) return Bounded(RoundToFloat16(value), kFloat16Max);
  if (type == ElementType::kBfloat16) return Bounded(RoundToBfloat16(value), kBfloat16Max);
  return type == ElementType::kFloat32 ? static_cast<float>(value) : value;
}

std::string EncodeElements(ElementType type, std::span<const int32_t> values) {
  return EncodeAs(type, values);
}

std::string EncodeElements(ElementType type, std::span<const int64_t> values) {
  return EncodeAs(type, values);
}

}  // namespace gridfold::load
