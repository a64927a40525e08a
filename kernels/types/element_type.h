// Element types of arrays, and the one dispatcher from a run-time type to a compile-time one.
//
// VisitElementType(type, f) calls f with a TypeTag<T>, so a kernel is chosen by a switch that is
// written once. T is a built-in arithmetic type, Float16 or Bfloat16. Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_TYPES_ELEMENT_TYPE_H_
#define GRIDFOLD_KERNELS_TYPES_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "kernels/types/half.h"

namespace gridfold::kernels {

// Accumulators hold these numbers: a new type takes the next.
enum class ElementType : uint8_t {
  kInt8 = 0,
  kInt16 = 1,
  kInt32 = 2,
  kInt64 = 3,
  kUint8 = 4,
  kUint16 = 5,
  kUint32 = 6,
  kUint64 = 7,
  kFloat16 = 8,
  kBfloat16 = 9,
  kFloat32 = 10,
  kFloat64 = 11,
};

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the T that `type` stands for and returns what it returns.
template <class F>
constexpr decltype(auto) VisitElementType(ElementType type, F&& f) {
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
constexpr ElementType FindElementType() {
  for (uint8_t i = 0;; ++i) {
    const auto type = static_cast<ElementType>(i);
    const bool is_it = VisitElementType(
        type, [](auto tag) { return std::is_same_v<typename decltype(tag)::type, T>; });
    if (is_it) return type;
  }
}
template <class T>
inline constexpr ElementType kElementTypeOf = FindElementType<T>();

// Size of one element in bytes.
constexpr size_t ElementSize(ElementType type) {
  return VisitElementType(type, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

constexpr bool IsFloatingPoint(ElementType type) {
  return VisitElementType(
      type, [](auto tag) { return !std::is_integral_v<typename decltype(tag)::type>; });
}
constexpr bool IsUnsigned(ElementType type) {
  return VisitElementType(
      type, [](auto tag) { return std::is_unsigned_v<typename decltype(tag)::type>; });
}
constexpr bool IsSigned(ElementType type) { return !IsFloatingPoint(type) && !IsUnsigned(type); }

// VisitElementType of types of one kind: f need not take others. Require a type of the kind.
template <class F>
decltype(auto) VisitFloatingType(ElementType type, F&& f) {
  return VisitElementType(type, [&](auto tag) -> decltype(f(TypeTag<double>{})) {
    if constexpr (std::is_integral_v<typename decltype(tag)::type>) {
      std::abort();
    } else {
      return f(tag);
    }
  });
}
template <class F>
decltype(auto) VisitIntegerType(ElementType type, F&& f) {
  return VisitElementType(type, [&](auto tag) -> decltype(f(TypeTag<int64_t>{})) {
    if constexpr (std::is_integral_v<typename decltype(tag)::type>) {
      return f(tag);
    } else {
      std::abort();
    }
  });
}

// "int8" ... "float64", as NumPy spells them; null where there is no type of the number.
constexpr const char* ElementTypeName(ElementType type) {
  switch (type) {
    case ElementType::kInt8: return "int8";
    case ElementType::kInt16: return "int16";
    case ElementType::kInt32: return "int32";
    case ElementType::kInt64: return "int64";
    case ElementType::kUint8: return "uint8";
    case ElementType::kUint16: return "uint16";
    case ElementType::kUint32: return "uint32";
    case ElementType::kUint64: return "uint64";
    case ElementType::kFloat16: return "float16";
    case ElementType::kBfloat16: return "bfloat16";
    case ElementType::kFloat32: return "float32";
    case ElementType::kFloat64: return "float64";
  }
  return nullptr;
}

constexpr int CountElementTypes() {
  int count = 0;
  while (ElementTypeName(static_cast<ElementType>(count)) != nullptr) ++count;
  return count;
}
// Their numbers are those below this.
inline constexpr int kElementTypeCount = CountElementTypes();

// The 64-bit type that sums and products of `type` are given in: int64, uint64 or float64.
constexpr ElementType AccumulatorType(ElementType type) {
  if (IsFloatingPoint(type)) return ElementType::kFloat64;
  return IsUnsigned(type) ? ElementType::kUint64 : ElementType::kInt64;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_ELEMENT_TYPE_H_
