// Exact sums of products of up to three elements: what dot products, covariances and weighted means
// are made of.
//
// A product is an integer in units of the product of the factors' smallest numbers, as an addend of
// sums/exact_sum.h is, and is cut into the same signed digits 32 bits apart: sums of digits are
// integers, so neither order nor parts nor engine can change a bit of the sum. Integers have a unit
// of 1. A digit of 64 bits takes kProductsPerDigit products; CarryDigits makes a number of them.
//
// Infinities, NaN, negative zeros and negative products are kept beside the number, by flags that
// are merged by OR. Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_PAIRED_PRODUCT_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_PAIRED_PRODUCT_SUM_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

inline constexpr int kFactorsMax = 3;

// How the sum of products of `factors` elements is kept. Room is for 2^63 products.
struct ProductSumFormat {
  int lowest_exponent = 0;  // The unit is 2^lowest_exponent.
  int limbs = 0;            // Of the number, in two's complement.
  constexpr int digits() const { return 2 * limbs; }
};

template <class T>
constexpr ProductSumFormat ProductSumFormatOf(int factors) {
  constexpr int kCountBits = 64;  // And the sign.
  const auto of = [](int lowest_exponent, int bits) {
    return ProductSumFormat{lowest_exponent, (bits + kCountBits + kLimbBits - 1) / kLimbBits};
  };
  if constexpr (FloatingElement<T>) {
    using Format = FloatFormat<ComputeType<T>>;
    return of(factors * Format::kLowestExponent,
              factors * (Format::kExponentLimit - Format::kLowestExponent));
  } else {
    return of(0, factors * static_cast<int>(8 * sizeof(T)));
  }
}

// Beside the flags of exact sums, kSaw...
inline constexpr uint32_t kSawNegativeProduct = 8;

inline constexpr uint64_t kProductsPerDigit = uint64_t{1} << 30;

namespace product_sum_internal {

template <class T>
GRIDFOLD_HD inline DecomposedFloat Factor(T x) {
  if constexpr (FloatingElement<T>) {
    return Decompose(ToCompute(x));
  } else {
    return {Magnitude(x), 0, IsNegative(x)};
  }
}

// Bits of an element's significand.
template <class T>
constexpr int FactorBits() {
  if constexpr (FloatingElement<T>) {
    return FloatFormat<ComputeType<T>>::kPrecision;
  } else {
    return static_cast<int>(8 * sizeof(T));
  }
}

// Of a product with a factor that is not finite: NaN where one is, or 0 is another; else infinite.
template <class T, int kFactors>
GRIDFOLD_HD inline uint32_t FlagsOfInfinite(const T (&factors)[kFactors], bool negative) {
  bool is_nan = false;
  for (int i = 0; i < kFactors; ++i)
    is_nan = is_nan || IsNan(factors[i]) || ToCompute(factors[i]) == 0;
  const uint32_t infinity = negative ? kSawNegativeInfinity : kSawPositiveInfinity;
  return kSawOtherThanNegativeZero | (is_nan ? kSawNan : infinity);
}

}  // namespace product_sum_internal

// Adds the product of the factors: calls add(digit, value) for each of its digits, with values
// below 2^32 in size, and returns its flags. A product that is not finite has no digits.
template <class T, int kFactors, class Add>
GRIDFOLD_HD inline uint32_t AddProduct(const T (&factors)[kFactors], Add add) {
  using namespace product_sum_internal;
  static_assert(kFactors >= 1 && kFactors <= kFactorsMax);
  constexpr int kBits = kFactors * FactorBits<T>();
  DecomposedFloat parts[kFactors];
  bool negative = false;
  uint32_t position = 0;
  bool is_zero = false;
  bool is_finite = true;
  for (int i = 0; i < kFactors; ++i) {
    parts[i] = Factor(factors[i]);
    negative = negative != parts[i].negative;
    position += parts[i].position;
    is_zero = is_zero || parts[i].significand == 0;
    if constexpr (FloatingElement<T>) {
      is_finite = is_finite && IsFinite(static_cast<double>(ToCompute(factors[i])));
    }
  }
  if (!is_finite) return FlagsOfInfinite(factors, negative);
  if (is_zero) return negative ? 0 : kSawOtherThanNegativeZero;
  Uint128 magnitude = parts[0].significand;
  if constexpr (kFactors >= 2) magnitude *= parts[1].significand;
  if constexpr (kFactors < 3) {
    ForEachDigit<kBits>(magnitude, position, negative, add);
  } else if constexpr (kBits <= 2 * kLimbBits) {
    ForEachDigit<kBits>(magnitude * parts[2].significand, position, negative, add);
  } else {
    // In halves, which may both add to a digit.
    constexpr int kHalfBits = 2 * kLimbBits;
    const Uint128 low = Uint128{static_cast<uint64_t>(magnitude)} * parts[2].significand;
    const Uint128 high = (magnitude >> kLimbBits) * parts[2].significand;
    ForEachDigit<kHalfBits>(low, position, negative, add);
    ForEachDigit<kHalfBits>(high, position + kLimbBits, negative, add);
  }
  return kSawOtherThanNegativeZero | (negative ? kSawNegativeProduct : 0);
}

// limbs += what the digits hold; digit(i) gives them, for i below 2 * limb_count.
template <class DigitAt>
GRIDFOLD_HD inline void CarryDigits(DigitAt digit, uint64_t* limbs, int limb_count) {
  int64_t carry = 0;
  for (int limb = 0; limb < limb_count; ++limb) {
    const Int128 sum =
        Int128{digit(2 * limb)} + (Int128{digit(2 * limb + 1)} << 32) + limbs[limb] + carry;
    limbs[limb] = static_cast<uint64_t>(sum);
    carry = static_cast<int64_t>(sum >> kLimbBits);
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_PAIRED_PRODUCT_SUM_H_
