// The element types of arrays, their names, and which C++ type stands for each.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_ELEMENT_TYPE_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_ELEMENT_TYPE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/strings/string_view.h"

namespace gridfold::client {

// Type of an array's elements. The numbers are those of the wire.
enum class ElementType {
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kUint8 = 5,
  kUint16 = 6,
  kUint32 = 7,
  kUint64 = 8,
  kFloat16 = 9,
  kBfloat16 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
  // A byte that is 0 or 1; ArrayView(ElementType::kBool, data, count) views such. Not of sharded
  // arrays, nor in order statistics, groups by key, relations and streams but ReductionStream:
  // those take the bytes as kUint8.
  kBool = 13,
};

// IEEE 754 binary16, as its bits.
struct Float16 {
  uint16_t bits;
  friend bool operator==(Float16, Float16) = default;  // Compares bits.
};

// bfloat16, the upper half of an IEEE 754 binary32, as its bits.
struct Bfloat16 {
  uint16_t bits;
  friend bool operator==(Bfloat16, Bfloat16) = default;  // Compares bits.
};

// The exact value.
float ToFloat(Float16 value);
float ToFloat(Bfloat16 value);

// C++ types that are elements: the integers of 8 to 64 bits (but not bool and the character types),
// float, double, Float16 and Bfloat16.
template <typename T>
concept Element = std::same_as<T, Float16> || std::same_as<T, Bfloat16> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, signed char> || std::same_as<T, unsigned char> ||
    std::same_as<T, short> || std::same_as<T, unsigned short> || std::same_as<T, int> ||
    std::same_as<T, unsigned int> || std::same_as<T, long> || std::same_as<T, unsigned long> ||
    std::same_as<T, long long> || std::same_as<T, unsigned long long>;

// The element type that T stands for.
template <Element T>
constexpr ElementType ElementTypeOf() {
  if constexpr (std::same_as<T, Float16>) return ElementType::kFloat16;
  if constexpr (std::same_as<T, Bfloat16>) return ElementType::kBfloat16;
  if constexpr (std::same_as<T, float>) return ElementType::kFloat32;
  if constexpr (std::same_as<T, double>) return ElementType::kFloat64;
  if constexpr (std::integral<T>) {
    switch (sizeof(T)) {
      case 1: return std::is_signed_v<T> ? ElementType::kInt8 : ElementType::kUint8;
      case 2: return std::is_signed_v<T> ? ElementType::kInt16 : ElementType::kUint16;
      case 4: return std::is_signed_v<T> ? ElementType::kInt32 : ElementType::kUint32;
      case 8: return std::is_signed_v<T> ? ElementType::kInt64 : ElementType::kUint64;
    }
  }
}

// Size of one element in bytes; 0 for a number that is no ElementType.
size_t ElementSizeBytes(ElementType type);

// "int8" ... "float64" and "bool"; "unknown" for a number that is no ElementType.
absl::string_view ElementTypeName(ElementType type);

// The reverse of ElementTypeName; nothing for other text.
std::optional<ElementType> ParseElementType(absl::string_view name);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ELEMENT_TYPE_H_
