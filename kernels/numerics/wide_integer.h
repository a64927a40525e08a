// Exact sums of integers: 128 bits for sums, 192 bits for sums of squares of 64-bit elements, 256
// bits to subtract one moment from the other.
//
// 2^64 elements of 64 bits cannot overflow either, so the order of the elements never matters and
// overflow of the answer's type is decided once, at the end.
#ifndef GRIDFOLD_KERNELS_NUMERICS_WIDE_INTEGER_H_
#define GRIDFOLD_KERNELS_NUMERICS_WIDE_INTEGER_H_

#include <cstdint>

#include "kernels/numerics/compensated_sum.h"
#include "kernels/numerics/host_device.h"

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
};

// An unsigned integer of 256 bits, little end first: wide enough for a count times a sum of
// squares, and for the square of a sum.
struct Uint256 {
  uint64_t limbs[4] = {0, 0, 0, 0};

  GRIDFOLD_HD static Uint256 Product(const Uint192& a, uint64_t b) {
    Uint256 product;
    Uint128 carry = 0;
    for (int i = 0; i < 3; ++i) {
      carry += Uint128{a.limbs[i]} * b;
      product.limbs[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    product.limbs[3] = static_cast<uint64_t>(carry);
    return product;
  }

  GRIDFOLD_HD static Uint256 Square(Uint128 a) {
    const uint64_t low = static_cast<uint64_t>(a);
    const uint64_t high = static_cast<uint64_t>(a >> 64);
    Uint192 wide;
    wide.Add(a);
    Uint256 square = Product(wide, low);
    const Uint256 shifted = Product(wide, high);
    Uint128 carry = 0;
    for (int i = 1; i < 4; ++i) {
      carry += Uint128{square.limbs[i]} + shifted.limbs[i - 1];
      square.limbs[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    return square;
  }

  // Requires that `other` is not the larger one.
  GRIDFOLD_HD Uint256 Minus(const Uint256& other) const {
    Uint256 difference;
    uint64_t borrow = 0;
    for (int i = 0; i < 4; ++i) {
      const Uint128 digit = Uint128{limbs[i]} - other.limbs[i] - borrow;
      difference.limbs[i] = static_cast<uint64_t>(digit);
      borrow = static_cast<uint64_t>(digit >> 64) & 1;
    }
    return difference;
  }
};

// The value rounded to about 106 bits.
template <int kLimbs>
GRIDFOLD_HD inline DoubleDouble ToDoubleDouble(const uint64_t (&limbs)[kLimbs]) {
  DoubleDouble sum{0, 0};
  double weight = kLimbs == 3 ? 0x1p160 : 0x1p224;  // Of the upper half of the last limb.
  static_assert(kLimbs == 3 || kLimbs == 4);
  for (int i = kLimbs - 1; i >= 0; --i) {
    sum = Add(sum, {static_cast<double>(limbs[i] >> 32) * weight, 0});
    sum = Add(sum, {static_cast<double>(limbs[i] & 0xFFFF'FFFFu) * (weight * 0x1p-32), 0});
    weight *= 0x1p-64;
  }
  return sum;
}
GRIDFOLD_HD inline DoubleDouble ToDoubleDouble(const Uint192& x) { return ToDoubleDouble(x.limbs); }
GRIDFOLD_HD inline DoubleDouble ToDoubleDouble(const Uint256& x) { return ToDoubleDouble(x.limbs); }

GRIDFOLD_HD inline DoubleDouble ToDoubleDouble(Uint128 x) {
  Uint192 wide;
  wide.Add(x);
  return ToDoubleDouble(wide);
}

GRIDFOLD_HD inline DoubleDouble ToDoubleDouble(Int128 x) {
  return x < 0 ? Negate(ToDoubleDouble(Uint128{0} - static_cast<Uint128>(x)))
               : ToDoubleDouble(static_cast<Uint128>(x));
}

// Whether x is a value of the 64-bit type I.
template <class I>
GRIDFOLD_HD inline bool Fits(Int128 x) {
  return x == static_cast<Int128>(static_cast<I>(x));
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_WIDE_INTEGER_H_
