// Exact sums of integers: 128 bits for sums, 192 bits for sums of squares of 64-bit elements.
//
// 2^64 elements of 64 bits cannot overflow either, so the order of the elements never matters and
// overflow of the answer's type is decided once, at the end.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_WIDE_INTEGER_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_WIDE_INTEGER_H_

#include <cstdint>

#include "kernels/types/host_device.h"

namespace gridfold::kernels {

using Int128 = __int128;
using Uint128 = unsigned __int128;

// An unsigned integer of 192 bits, little end first.
struct Uint192 {
  uint64_t limbs[3] = {0, 0, 0};

  GRIDFOLD_HD void Add(Uint128 x) {
    const Uint128 low = Uint128{limbs[0]} + static_cast<uint64_t>(x);
    const Uint128 middle =
        Uint128{limbs[1]} + static_cast<uint64_t>(x >> 64) + static_cast<uint64_t>(low >> 64);
    limbs[0] = static_cast<uint64_t>(low);
    limbs[1] = static_cast<uint64_t>(middle);
    limbs[2] += static_cast<uint64_t>(middle >> 64);
  }

  GRIDFOLD_HD void Merge(const Uint192& other) {
    Add((Uint128{other.limbs[1]} << 64) | other.limbs[0]);
    limbs[2] += other.limbs[2];
  }
  // Modulo 2^192.
  GRIDFOLD_HD void Subtract(const Uint192& other) {
    Merge({{~other.limbs[0], ~other.limbs[1], ~other.limbs[2]}});
    Add(1);
  }
};

// Whether x is a value of the 64-bit type I.
template <class I>
GRIDFOLD_HD inline bool Fits(Int128 x) {
  return x == static_cast<Int128>(static_cast<I>(x));
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_WIDE_INTEGER_H_
