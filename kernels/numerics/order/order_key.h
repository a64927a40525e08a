// The order of elements as that of unsigned integers of the same size, which are counted by their
// digits.
//
//   ToOrderKey(-1.5f) < ToOrderKey(0.0f);  ToOrderKey(-0.0f) == ToOrderKey(0.0f)
//   FromOrderKey<float>(ToOrderKey(-1.5f)) == -1.5f
//
// Keys of integers differ by as much as the integers do. Zeros of either sign have the key of +0.
// All NaNs have the largest key, which no number of a floating-point type has.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ORDER_ORDER_KEY_H_
#define GRIDFOLD_KERNELS_NUMERICS_ORDER_ORDER_KEY_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/types/half.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

template <class T>
using OrderKey =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

namespace order_internal {

template <class T>
inline constexpr OrderKey<T> kSignBit = static_cast<OrderKey<T>>(OrderKey<T>{1}
                                                                 << (8 * sizeof(T) - 1));

template <class T>
constexpr OrderKey<T> InfinityBits() {
  if constexpr (std::same_as<T, Float16>) return 0x7C00;
  if constexpr (std::same_as<T, Bfloat16>) return 0x7F80;
  if constexpr (std::same_as<T, float>) return 0x7F80'0000u;
  if constexpr (std::same_as<T, double>) return 0x7FF0'0000'0000'0000u;
}

}  // namespace order_internal

// The key of all NaNs. One of integers as well: whether it is that of a NaN, the type says.
template <class T>
inline constexpr OrderKey<T> kNanKey = static_cast<OrderKey<T>>(~OrderKey<T>{0});

template <class T>
GRIDFOLD_HD inline bool IsNanKey(OrderKey<T> key) {
  if constexpr (FloatingElement<T>) {
    return key == kNanKey<T>;
  } else {
    return false;
  }
}

template <class T>
GRIDFOLD_HD inline OrderKey<T> ToOrderKey(T x) {
  using Key = OrderKey<T>;
  constexpr Key kSign = order_internal::kSignBit<T>;
  if constexpr (IntegerElement<T>) {
    return static_cast<Key>(static_cast<Key>(x) ^ (std::is_signed_v<T> ? kSign : Key{0}));
  } else {
    const Key bits = std::bit_cast<Key>(x);
    const Key magnitude = static_cast<Key>(bits & static_cast<Key>(~kSign));
    if (magnitude > order_internal::InfinityBits<T>()) return kNanKey<T>;
    const bool is_negative = bits > kSign;  // And no zero.
    return static_cast<Key>(is_negative ? ~bits : magnitude | kSign);
  }
}

template <class T>
GRIDFOLD_HD inline T FromOrderKey(OrderKey<T> key) {
  using Key = OrderKey<T>;
  constexpr Key kSign = order_internal::kSignBit<T>;
  if constexpr (IntegerElement<T>) {
    return static_cast<T>(static_cast<Key>(key ^ (std::is_signed_v<T> ? kSign : Key{0})));
  } else {
    return std::bit_cast<T>(static_cast<Key>((key & kSign) != 0 ? key ^ kSign : ~key));
  }
}

// The keys by which elements are selected: those with larger keys first. The smallest elements are
// those with the largest inverted keys.
//
// A NaN is before all numbers, in either direction, or behind them where it is ignored.
template <class T>
GRIDFOLD_HD inline OrderKey<T> ToSelectionKey(T x, bool smallest, bool ignores_nan) {
  const OrderKey<T> key = ToOrderKey(x);
  if (IsNanKey<T>(key)) return ignores_nan ? OrderKey<T>{0} : key;
  return smallest ? static_cast<OrderKey<T>>(~key) : key;
}

// Whether the key is that of an ignored NaN.
template <class T>
GRIDFOLD_HD inline bool IsIgnoredKey(OrderKey<T> key, bool ignores_nan) {
  return FloatingElement<T> && ignores_nan && key == 0;
}

// An element as the 8 bytes of a value, int64, uint64 or float64.
template <class T>
GRIDFOLD_HD inline uint64_t ElementSlot(T x) {
  return Slot(ToCompute(x));
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ORDER_ORDER_KEY_H_
