#include "kernels/conformance/element_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gridfold::kernels::conformance {

FloatFormat FloatFormatOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat16: return {10, 5};
    case ElementType::kBfloat16: return {7, 8};
    case ElementType::kFloat32: return {23, 8};
    case ElementType::kFloat64: return {52, 11};
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kUint8:
    case ElementType::kUint16:
    case ElementType::kUint32:
    case ElementType::kUint64: break;
  }
  return {};
}

double DecodeFloat(FloatFormat format, uint64_t bits) {
  const uint64_t significand = bits & ((uint64_t{1} << format.significand_bits) - 1);
  const int field = static_cast<int>(bits >> format.significand_bits &
                                     ((uint64_t{1} << format.exponent_bits) - 1));
  const bool negative = (bits >> (format.significand_bits + format.exponent_bits) & 1) != 0;
  double magnitude = 0;
  if (field == (1 << format.exponent_bits) - 1) {
    magnitude = significand == 0 ? HUGE_VAL : std::nan("");
  } else {
    const uint64_t hidden = field == 0 ? 0 : uint64_t{1} << format.significand_bits;
    const int exponent = std::max(field, 1) - 1 + format.min_exponent() - format.significand_bits;
    magnitude = std::ldexp(static_cast<double>(significand | hidden), exponent);
  }
  return negative ? -magnitude : magnitude;
}

uint64_t EncodeFloat(FloatFormat format, double x) {
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.significand_bits;
  const uint64_t sign = uint64_t{std::signbit(x)}
                        << (format.significand_bits + format.exponent_bits);
  if (std::isnan(x)) return infinity | uint64_t{1} << (format.significand_bits - 1);
  const double magnitude = std::fabs(x);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  // A whole number of the format's steps near x, rounded by the processor.
  const int exponent = std::max(std::ilogb(magnitude), format.min_exponent());
  const double steps = std::nearbyint(std::ldexp(magnitude, format.significand_bits - exponent));
  // Steps past the end of this binade or below the first one are right all the same: the encoding
  // is one increasing sequence, whose last member is infinity.
  const uint64_t before = static_cast<uint64_t>(exponent - format.min_exponent())
                          << format.significand_bits;
  return sign | std::min(before + static_cast<uint64_t>(steps), infinity);
}

namespace {

template <class T>
long double Read(const std::byte* data) {
  T x;
  std::memcpy(&x, data, sizeof(T));
  return static_cast<long double>(x);
}

template <class T>
void Write(T x, std::byte* data) {
  std::memcpy(data, &x, sizeof(T));
}

}  // namespace

long double ReadElement(ElementType type, const std::byte* data) {
  switch (type) {
    case ElementType::kInt8: return Read<int8_t>(data);
    case ElementType::kInt16: return Read<int16_t>(data);
    case ElementType::kInt32: return Read<int32_t>(data);
    case ElementType::kInt64: return Read<int64_t>(data);
    case ElementType::kUint8: return Read<uint8_t>(data);
    case ElementType::kUint16: return Read<uint16_t>(data);
    case ElementType::kUint32: return Read<uint32_t>(data);
    case ElementType::kUint64: return Read<uint64_t>(data);
    case ElementType::kFloat32: return Read<float>(data);
    case ElementType::kFloat64: return Read<double>(data);
    case ElementType::kFloat16:
    case ElementType::kBfloat16: break;
  }
  uint16_t bits;
  std::memcpy(&bits, data, sizeof(bits));
  return DecodeFloat(FloatFormatOf(type), bits);
}

void WriteElement(ElementType type, long double value, std::byte* data) {
  switch (type) {
    case ElementType::kInt8: return Write(static_cast<int8_t>(value), data);
    case ElementType::kInt16: return Write(static_cast<int16_t>(value), data);
    case ElementType::kInt32: return Write(static_cast<int32_t>(value), data);
    case ElementType::kInt64: return Write(static_cast<int64_t>(value), data);
    case ElementType::kUint8: return Write(static_cast<uint8_t>(value), data);
    case ElementType::kUint16: return Write(static_cast<uint16_t>(value), data);
    case ElementType::kUint32: return Write(static_cast<uint32_t>(value), data);
    case ElementType::kUint64: return Write(static_cast<uint64_t>(value), data);
    case ElementType::kFloat32: return Write(static_cast<float>(value), data);
    case ElementType::kFloat64: return Write(static_cast<double>(value), data);
    case ElementType::kFloat16:
    case ElementType::kBfloat16: break;
  }
  Write(static_cast<uint16_t>(EncodeFloat(FloatFormatOf(type), static_cast<double>(value))), data);
}

long double LargestElement(ElementType type) {
  if (IsFloatingPoint(type)) {
    const FloatFormat format = FloatFormatOf(type);
    return std::ldexp(2 - std::ldexp(1.0L, -format.significand_bits), format.max_exponent());
  }
  const int bits = static_cast<int>(ElementSize(type)) * 8 - (IsUnsigned(type) ? 0 : 1);
  return std::ldexp(1.0L, bits) - 1;
}

long double SmallestElement(ElementType type) {
  if (IsFloatingPoint(type)) return -LargestElement(type);
  return IsUnsigned(type) ? 0 : -LargestElement(type) - 1;
}

}  // namespace gridfold::kernels::conformance
