// Products of integers that know whether 64 bits hold them, in few instructions: for scans, which
// want that of every prefix.
//
// Beside the product modulo 2^64 stands a float32 product of the same factors. Factors of magnitude
// 1 are multiplied without error. Others are at most 127 in a product P below 2^128, so at most 255
// multiplications and conversions round, by 2^-24 of P each: the estimate is within 2^-15 of P. Of
// larger products it is at least 2^127, or infinite. A factor of 0 makes it 0, or NaN where an
// infinite one is multiplied by that, and nothing else does.
//
// The number s that the low 64 bits stand for differs from P by a multiple of 2^64. Where both are
// equal, P is at most 2^64, and the estimate within 2^50 of s; where they are not, it is more than
// 2^62 away.
//
// numerics/statistics/reduction_state.h wants the product's magnitude as well, which others may go
// on multiplying: checked_product.h.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ESTIMATED_PRODUCT_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ESTIMATED_PRODUCT_H_

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/types/host_device.h"

namespace gridfold::kernels {

struct EstimatedProduct {
  uint64_t wrapped = 1;  // Modulo 2^64.
  float estimate = 1;

  template <std::integral T>
  GRIDFOLD_HD static EstimatedProduct Of(T x) {
    // Sign-extends.
    return {static_cast<uint64_t>(x), static_cast<float>(x)};
  }

  GRIDFOLD_HD void Merge(const EstimatedProduct& other) {
    wrapped *= other.wrapped;
    estimate *= other.estimate;
  }

  // Whether the exact product is a value of the 64-bit type I, which is then `wrapped`.
  template <class I>
  GRIDFOLD_HD bool Fits() const {
    using High = std::conditional_t<std::is_signed_v<I>, int32_t, uint32_t>;
    // The conversion of 64 bits would take several times as long, and say no more.
    const auto high = static_cast<float>(static_cast<High>(wrapped >> 32));
    const float distance = std::fabs(estimate - high * 0x1p32F);
    return !(distance > 0x1p62F);  // So where the estimate is NaN, too.
  }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ESTIMATED_PRODUCT_H_
