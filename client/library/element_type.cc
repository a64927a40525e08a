#include "gridfold/element_type.h"

#include <array>
#include <bit>

namespace gridfold::client {
namespace {

struct TypeProperties {
  ElementType type;
  absl::string_view name;
  size_t size_bytes;
};

constexpr std::array<TypeProperties, 13> kTypes = {{
    {ElementType::kInt8, "int8", 1},
    {ElementType::kInt16, "int16", 2},
    {ElementType::kInt32, "int32", 4},
    {ElementType::kInt64, "int64", 8},
    {ElementType::kUint8, "uint8", 1},
    {ElementType::kUint16, "uint16", 2},
    {ElementType::kUint32, "uint32", 4},
    {ElementType::kUint64, "uint64", 8},
    {ElementType::kFloat16, "float16", 2},
    {ElementType::kBfloat16, "bfloat16", 2},
    {ElementType::kFloat32, "float32", 4},
    {ElementType::kFloat64, "float64", 8},
    {ElementType::kBool, "bool", 1},
}};

const TypeProperties* Find(ElementType type) {
  for (const TypeProperties& properties : kTypes) {
    if (properties.type == type) return &properties;
  }
  return nullptr;
}

}  // namespace

float ToFloat(Float16 value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1Fu;
  const uint32_t fraction = value.bits & 0x3FFu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // Exact, also subnormal.
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t float_exponent = exponent == 0x1F ? 0xFFu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (float_exponent << 23) | (fraction << 13));
}

float ToFloat(Bfloat16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

size_t ElementSizeBytes(ElementType type) {
  const TypeProperties* properties = Find(type);
  return properties == nullptr ? 0 : properties->size_bytes;
}

absl::string_view ElementTypeName(ElementType type) {
  const TypeProperties* properties = Find(type);
  return properties == nullptr ? "unknown" : properties->name;
}

std::optional<ElementType> ParseElementType(absl::string_view name) {
  for (const TypeProperties& properties : kTypes) {
    if (properties.name == name) return properties.type;
  }
  return std::nullopt;
}

}  // namespace gridfold::client
