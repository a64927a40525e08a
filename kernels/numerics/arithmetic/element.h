// Classes of element types, and the type that their arithmetic is done in.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ELEMENT_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ELEMENT_H_

#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/types/element_type.h"
#include "kernels/types/half.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

template <class T>
concept HalfElement = std::same_as<T, Float16> || std::same_as<T, Bfloat16>;
template <class T>
concept FloatingElement = HalfElement<T> || std::floating_point<T>;
template <class T>
concept IntegerElement = std::integral<T>;

// Comparisons and conversions of T are done in ComputeType<T>: float for the 16-bit floating-point
// types, T itself for all others. Every value of T is exact in it.
template <class T>
using ComputeType = std::conditional_t<HalfElement<T>, float, T>;

template <class T>
GRIDFOLD_HD inline ComputeType<T> ToCompute(T x) {
  return static_cast<ComputeType<T>>(x);
}

// A float64 value rounded once to T: to the nearest, ties to even.
template <FloatingElement T>
GRIDFOLD_HD inline T RoundTo(double x) {
  if constexpr (HalfElement<T>) {
    return T::FromDouble(x);
  } else {
    return static_cast<T>(x);
  }
}

// NaN and infinity by the bits, so that no compiler setting can reason them away.
GRIDFOLD_HD inline bool IsNan(double x) { return x != x; }
GRIDFOLD_HD inline bool IsNan(float x) { return x != x; }
template <class T>
GRIDFOLD_HD inline bool IsNan(T x) requires(HalfElement<T> || IntegerElement<T>) {
  if constexpr (HalfElement<T>) {
    return IsNan(static_cast<float>(x));
  } else {
    return false;
  }
}

GRIDFOLD_HD inline bool IsFinite(double x) { return x - x == 0; }
template <class T>
GRIDFOLD_HD inline bool IsInfinite(T x) {
  if constexpr (FloatingElement<T>) {
    // Without a branch, so that loops over arrays vectorise.
    constexpr ComputeType<T> kInfinity = std::numeric_limits<ComputeType<T>>::infinity();
    return (ToCompute(x) == kInfinity) | (ToCompute(x) == -kInfinity);
  } else {
    return false;
  }
}

// |x| of an integer; right for the smallest value too.
template <IntegerElement T>
GRIDFOLD_HD inline uint64_t Magnitude(T x) {
  if constexpr (std::is_signed_v<T>) {
    const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(x));
    return x < 0 ? uint64_t{0} - bits : bits;
  } else {
    return x;
  }
}

template <IntegerElement T>
GRIDFOLD_HD inline bool IsNegative(T x) {
  if constexpr (std::is_signed_v<T>) return x < 0;
  return false;
}

// Element i of an array at any byte address.
template <class T>
inline T LoadUnaligned(const void* data, uint64_t i) {
  T x;
  std::memcpy(&x, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
  return x;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ELEMENT_H_
