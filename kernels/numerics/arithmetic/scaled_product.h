// Products of floating-point numbers whose exponent is kept apart, so that they do not leave the
// range of float64 where only a part of the factors would.
//
// A ScaledProduct stands for fraction * 2^exponent. Its product with another one is that of the
// fractions, rounded as float64 rounds (53 bits, to the nearest, ties to even), and the sum of the
// exponents: what a float64 multiplication would be whose exponent had no bounds. A fraction that
// is 0, infinite or NaN is what the value is, whatever the exponent.
//
//   ScaledProduct p = ScaledProduct::Of(1e200).Times(ScaledProduct::Of(1e200));
//   p = p.Times(ScaledProduct::Of(1e-200));
//   p.Rounded();  // 1e200
//
// Why the order of scaling changes no bits: a power of two multiplies a float64 number without
// error as long as it stays normal, so RN(2^k * x * y) = 2^k * RN(x * y). One value may therefore
// stand in several forms, and whoever multiplies may rescale whenever that is cheap: Times() does
// so where the product of two fractions leaves a window in the middle of the range, which products
// that come out there have not left on the way. Everything within float64's normal range has the
// bits of plain float64 multiplication.
//
// Rounding happens once more, in Rounded(), where the value is below the smallest normal number or
// past the largest one: then the 53 bits are rounded to what float64 has there. A product below the
// normal range is thus rounded by its last multiplication and by this; it differs from the exactly
// rounded one by half a unit of the subnormal numbers and 2^-53 of itself at most. Types that are
// shorter than float64 are rounded from Rounded(): what is subnormal in float64 is 0 in all of
// them, and what is infinite is infinite, so no third rounding can happen.
//
// Exponents do not overflow: 2^63 / 1074 factors are more than any array has.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_SCALED_PRODUCT_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_SCALED_PRODUCT_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

namespace scaled_product_internal {

inline constexpr int kMantissaBits = 52;
inline constexpr int64_t kExponentBias = 1023;
inline constexpr uint64_t kExponentMask = uint64_t{0x7FF} << kMantissaBits;
// The window of fractions: 2^-511 to below 2^513, a half of all exponents.
inline constexpr uint64_t kWindowStart = uint64_t{512} << kMantissaBits;
inline constexpr uint64_t kOutsideBit = uint64_t{1} << 62;

// 2^exponent, of a normal number.
GRIDFOLD_HD inline double PowerOfTwo(int64_t exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kExponentBias) << kMantissaBits);
}

}  // namespace scaled_product_internal

// Bits of which IsOutsideWindow() can tell, or-ed over many products, whether any of them left the
// window: two instructions a product. A float64 product inside the window was rounded as if
// exponents had no bounds, whatever its factors are.
GRIDFOLD_HD inline uint64_t WindowBits(double product) {
  return std::bit_cast<uint64_t>(product) - scaled_product_internal::kWindowStart;
}
GRIDFOLD_HD inline bool IsOutsideWindow(uint64_t window_bits) {
  return (window_bits & scaled_product_internal::kOutsideBit) != 0;
}

struct ScaledProduct {
  double fraction = 1;
  int64_t exponent = 0;

  GRIDFOLD_HD static ScaledProduct Of(double x) { return {x, 0}; }

  // This value with a fraction of magnitude 1 to below 2, unless it is 0, infinite or NaN. Without
  // a branch, so that loops over arrays vectorise.
  GRIDFOLD_HD ScaledProduct Normalised() const {
    using namespace scaled_product_internal;  // NOLINT
    constexpr int kRaise = 64;                // Makes any subnormal number normal.
    const double raised = fraction * 0x1p64;
    const bool is_small = (std::bit_cast<uint64_t>(fraction) & kExponentMask) == 0;
    const uint64_t bits = std::bit_cast<uint64_t>(is_small ? raised : fraction);
    const uint64_t field = bits & kExponentMask;
    const int64_t of_fraction =
        static_cast<int64_t>(field >> kMantissaBits) - kExponentBias - (is_small ? kRaise : 0);
    const bool is_special = (field == 0) | (field == kExponentMask);
    const uint64_t one = std::bit_cast<uint64_t>(1.0);
    return {std::bit_cast<double>(is_special ? bits : (bits & ~kExponentMask) | one),
            is_special ? 0 : exponent + of_fraction};
  }

  GRIDFOLD_HD ScaledProduct Times(const ScaledProduct& other) const {
    const ScaledProduct product{fraction * other.fraction, exponent + other.exponent};
    if (!IsOutsideWindow(WindowBits(product.fraction))) return product;
    return MultiplyNormalised(fraction, exponent, other.fraction, other.exponent);
  }

  // The value as a float64 number: rounded to the nearest, ties to even, in one step.
  GRIDFOLD_HD double Rounded() const { return exponent == 0 ? fraction : Normalised().Scaled(); }

  // Of what Normalised() gave: whether Rounded() times any product in the window is this value
  // times it, rounded once. Not where that would be a subnormal number, or one from a value that
  // is none; far beyond these it is 0 or infinite either way.
  GRIDFOLD_HD bool ServesPlain() const {
    const int64_t magnitude = exponent < 0 ? -exponent : exponent;
    return (magnitude <= 500) | (magnitude >= 1600);
  }

  // Rounded() of what Normalised() gave. Without a branch.
  GRIDFOLD_HD double Scaled() const {
    using namespace scaled_product_internal;  // NOLINT
    // Past these everything is 0 or infinite. The first of two steps is exact, so the second is the
    // one that rounds.
    constexpr int64_t kMost = 1100;
    const auto clamped = static_cast<uint64_t>(Clamp(exponent, -kMost, kMost) + kMost);
    const auto first = static_cast<int64_t>(clamped / 2);
    const int64_t second = static_cast<int64_t>(clamped) - first;
    return fraction * PowerOfTwo(first - kMost / 2) * PowerOfTwo(second - kMost / 2);
  }

 private:
  // Takes plain numbers, so that callers can keep them in registers.
  GRIDFOLD_HD_APART static ScaledProduct MultiplyNormalised(double a_fraction, int64_t a_exponent,
                                                            double b_fraction, int64_t b_exponent) {
    const ScaledProduct a = ScaledProduct{a_fraction, a_exponent}.Normalised();
    const ScaledProduct b = ScaledProduct{b_fraction, b_exponent}.Normalised();
    return ScaledProduct{a.fraction * b.fraction, a.exponent + b.exponent}.Normalised();
  }
};

// Running products in plain float64.
//
// Where all running products of a group, multiplied as float64 numbers along the tree of
// numerics/scans/tree.h, are in this window, 2^-510 to 2^510, they are those that ScaledProducts
// give along that tree, bit for bit. So nothing else need be looked at: neither elements nor parts
// of the tree. Why:
//
// (1) A part of the tree multiplies consecutive elements of a group. Let P(i) be the running
// product before element i, with no bounds of exponents, and with P of nothing 1, or what a part of
// a stream continues from. Then the part from i to before j is P(j) / P(i), but for the rounding of
// at most 2^32 multiplications, less than a factor of 1 + 2^-20. If both are in the window, the
// part is above 2^-1021 and below 2^1021: a normal number. A product that is a normal number has
// the bits of one whose exponent has no bounds, and what it is made of are such parts. So if all
// P(i) are in the window, float64 numbers are what ScaledProducts are, in all parts.
//
// (2) It remains that a P(j) may be outside without being seen. Let it be the first of its group.
// By (1) all parts that end before element j - 1 are right. The result for P(j) is made by a chain
// of parts that end with that element: each is a right part, on the left, times the one before in
// the chain. If all of the chain are normal numbers, the result is right, hence outside. If one is
// infinite, NaN or 0, so is, or NaN, all that follow it, and the result is outside. Else let q be
// the last one that is subnormal, below 2^-1022. What follows multiplies it by parts that together
// are a P(i) before j, at most 2^510, and rounds as usual: the result is below 2^-511. It is
// outside.
//
// Exclusive results show all P but that of the whole group, which enters none of them; a stream
// looks at that, too, since its next part continues from there.
GRIDFOLD_HD inline bool IsInRunningWindow(double product) {
  const double magnitude = std::fabs(product);
  return (magnitude >= 0x1p-510) & (magnitude <= 0x1p510);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_SCALED_PRODUCT_H_
