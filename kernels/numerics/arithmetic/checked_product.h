// Products of integers whose overflow does not depend on the order of the factors.
//
// A product overflows 64 bits exactly if no factor is zero and the product of the magnitudes is too
// large; magnitudes of non-zero integers only grow, so remembering "too large" once is enough. The
// product modulo 2^64 is kept beside it for requests that ask for wrap-around.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_CHECKED_PRODUCT_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_CHECKED_PRODUCT_H_

#include <concepts>
#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

struct CheckedProduct {
  uint64_t wrapped = 1;    // The product modulo 2^64.
  uint64_t magnitude = 1;  // Of the product of the non-zero factors; meaningless if `too_large`.
  bool negative = false;   // Sign of the product of the non-zero factors.
  bool too_large = false;  // That magnitude is 2^64 or more.
  bool has_zero = false;

  template <std::integral T>
  GRIDFOLD_HD static CheckedProduct Of(T x) {
    CheckedProduct p;
    p.has_zero = x == 0;
    p.negative = IsNegative(x);
    p.magnitude = p.has_zero ? 1 : Magnitude(x);
    p.wrapped = static_cast<uint64_t>(x);  // Sign-extends.
    return p;
  }

  GRIDFOLD_HD void Merge(const CheckedProduct& other) {
    const Uint128 product = Uint128{magnitude} * other.magnitude;
    wrapped *= other.wrapped;
    too_large = too_large || other.too_large || (product >> 64) != 0;
    magnitude = static_cast<uint64_t>(product);
    negative = negative != other.negative;
    has_zero = has_zero || other.has_zero;
  }

  // Whether the exact product is a value of the 64-bit type I, which is then `wrapped`.
  template <class I>
  GRIDFOLD_HD bool Fits() const {
    if (has_zero) return true;
    if (too_large) return false;
    if constexpr (std::signed_integral<I>) {
      return magnitude <= (uint64_t{1} << 63) - (negative ? 0 : 1);
    } else {
      return !negative;
    }
  }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_CHECKED_PRODUCT_H_
