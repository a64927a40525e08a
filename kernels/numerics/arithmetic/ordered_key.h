// Integer keys of any type as unsigned numbers of 64 bits, which are ordered as the keys are.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ORDERED_KEY_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ORDERED_KEY_H_

#include <cstdint>
#include <type_traits>

#include "kernels/types/element_type.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// What turns the bits of a key, widened to 64, into its number and back: the sign of signed ones.
template <class T>
inline constexpr uint64_t kKeySign = std::is_signed_v<T> ? uint64_t{1} << 63 : 0;

// What turns the bits of a key into its number and back, of a type that is known when the program
// runs.
inline uint64_t KeySignOf(ElementType key_type) {
  return IsUnsigned(key_type) ? kKeySign<uint64_t> : kKeySign<int64_t>;
}

// The bits of a key, widened as its type is.
template <class T>
GRIDFOLD_HD inline uint64_t KeyBits(T key) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  return static_cast<uint64_t>(static_cast<Wide>(key));
}

template <class T>
GRIDFOLD_HD inline uint64_t OrderedKey(T key) {
  return KeyBits(key) ^ kKeySign<T>;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ORDERED_KEY_H_
