// Which bits the magnitudes of integers have, which says whether sums of them fit in 64 bits.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_SEEN_BITS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_SEEN_BITS_H_

#include <concepts>
#include <type_traits>

namespace gridfold::kernels::cpu {

// The bits of an integer's magnitude, one less where it is negative: without a branch.
template <std::integral S>
inline std::make_unsigned_t<S> SeenBits(S x) {
  using Bits = std::make_unsigned_t<S>;
  if constexpr (std::is_signed_v<S>) {
    return static_cast<Bits>(x ^ static_cast<S>(x >> (8 * sizeof(S) - 1)));
  } else {
    return x;
  }
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_SEEN_BITS_H_
