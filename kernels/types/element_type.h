// Element types of arrays, and the one dispatcher from a run-time type to a compile-time one.
//
// VisitElementType(type, f) calls f with a TypeTag<T>, so a kernel is chosen by a switch that is
// written once. T is a built-in arithmetic type, Float16 or Bfloat16. Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_TYPES_ELEMENT_TYPE_H_
#define GRIDFOLD_KERNELS_TYPES_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "kernels/types/half.h"

namespace gridfold::kernels {

enum class ElementType : uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
};

inline constexpr int kElementTypeCount = 12;

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the T that `type` stands for and returns what it returns.
template <class F>
decltype(auto) VisitElementType(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kInt8: return std::forward<F>(f)(TypeTag<int8_t>{});
    case ElementType::kInt16: return std::forward<F>(f)(TypeTag<int16_t>{});
    case ElementType::kInt32: return std::forward<F>(f)(TypeTag<int32_t>{});
    case ElementType::kInt64: return std::forward<F>(f)(TypeTag<int64_t>{});
    case ElementType::kUint8: return std::forward<F>(f)(TypeTag<uint8_t>{});
    case ElementType::kUint16: return std::forward<F>(f)(TypeTag<uint16_t>{});
    case ElementType::kUint32: return std::forward<F>(f)(TypeTag<uint32_t>{});
    case ElementType::kUint64: return std::forward<F>(f)(TypeTag<uint64_t>{});
    case ElementType::kFloat16: return std::forward<F>(f)(TypeTag<Float16>{});
    case ElementType::kBfloat16: return std::forward<F>(f)(TypeTag<Bfloat16>{});
    case ElementType::kFloat32: return std::forward<F>(f)(TypeTag<float>{});
    case ElementType::kFloat64: return std::forward<F>(f)(TypeTag<double>{});
  }
  std::abort();  // Not a value of the enumeration: a bug of the caller, who has validated it.
}

// The ElementType that stands for T.
template <class T>
inline constexpr ElementType kElementTypeOf = ElementType{255};
template <>
inline constexpr ElementType kElementTypeOf<int8_t> = ElementType::kInt8;
template <>
inline constexpr ElementType kElementTypeOf<int16_t> = ElementType::kInt16;
template <>
inline constexpr ElementType kElementTypeOf<int32_t> = ElementType::kInt32;
template <>
inline constexpr ElementType kElementTypeOf<int64_t> = ElementType::kInt64;
template <>
inline constexpr ElementType kElementTypeOf<uint8_t> = ElementType::kUint8;
template <>
inline constexpr ElementType kElementTypeOf<uint16_t> = ElementType::kUint16;
template <>
inline constexpr ElementType kElementTypeOf<uint32_t> = ElementType::kUint32;
template <>
inline constexpr ElementType kElementTypeOf<uint64_t> = ElementType::kUint64;
template <>
inline constexpr ElementType kElementTypeOf<Float16> = ElementType::kFloat16;
template <>
inline constexpr ElementType kElementTypeOf<Bfloat16> = ElementType::kBfloat16;
template <>
inline constexpr ElementType kElementTypeOf<float> = ElementType::kFloat32;
template <>
inline constexpr ElementType kElementTypeOf<double> = ElementType::kFloat64;

// Size of one element in bytes.
inline size_t ElementSize(ElementType type) {
  return VisitElementType(type, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

inline constexpr bool IsFloatingPoint(ElementType type) { return type >= ElementType::kFloat16; }
inline constexpr bool IsUnsigned(ElementType type) {
  return type >= ElementType::kUint8 && type <= ElementType::kUint64;
}
inline constexpr bool IsSigned(ElementType type) { return type <= ElementType::kInt64; }

// "int8" ... "float64", as NumPy spells them.
inline const char* ElementTypeName(ElementType type) {
  constexpr const char* kNames[kElementTypeCount] = {"int8",    "int16",    "int32",   "int64",
                                                     "uint8",   "uint16",   "uint32",  "uint64",
                                                     "float16", "bfloat16", "float32", "float64"};
  return kNames[static_cast<int>(type)];
}

// The 64-bit type that sums and products of `type` are given in: int64, uint64 or float64.
inline constexpr ElementType AccumulatorType(ElementType type) {
  if (IsFloatingPoint(type)) return ElementType::kFloat64;
  return IsUnsigned(type) ? ElementType::kUint64 : ElementType::kInt64;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_ELEMENT_TYPE_H_
