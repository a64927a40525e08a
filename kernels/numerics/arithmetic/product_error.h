// What rounding takes from a product (Dekker 1971, "A floating-point technique for extending the
// available precision").
//
//   0.1 * 0.1 is rounded to 0.010000000000000002; ProductError(0.1, 0.1, 0.1 * 0.1) is
//   -8.326672684688674e-19, and the sum of both is the exact product.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_PRODUCT_ERROR_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_PRODUCT_ERROR_H_

#include <cstdint>
#include <limits>

namespace gridfold::kernels {

// x * y - product, exactly, where `product` is x * y rounded to nearest and nothing over- or
// underflows. NaN where an infinity comes up on the way.
template <class Float>
constexpr Float ProductError(Float x, Float y, Float product) {
  // Halves of the digits multiply without rounding.
  constexpr int kHalfDigits = (std::numeric_limits<Float>::digits + 1) / 2;
  constexpr auto kSplitter = static_cast<Float>((uint64_t{1} << kHalfDigits) + 1);
  const Float x_scaled = kSplitter * x;
  const Float x_high = x_scaled - (x_scaled - x);
  const Float x_low = x - x_high;
  const Float y_scaled = kSplitter * y;
  const Float y_high = y_scaled - (y_scaled - y);
  const Float y_low = y - y_high;
  return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_PRODUCT_ERROR_H_
