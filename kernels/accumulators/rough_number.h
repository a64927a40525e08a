// Integers of any size as floating-point numbers with a bound of their error: for checks of sums,
// most of which are far from their limits. What they cannot decide WideNumber does, in ten times as
// long. Host only; for accumulators/contradictions.h.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_ROUGH_NUMBER_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_ROUGH_NUMBER_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/product_error.h"
#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels {

// Comparisons are true only where they are true for sure: neither a <= b nor b <= a may be.
// Results must be below 2^16000.
class RoughNumber {
 public:
  RoughNumber() = default;  // 0.

  // +-magnitude * 2^position.
  static RoughNumber Of(Uint128 magnitude, bool negative = false, uint32_t position = 0) {
    const Float rounded = static_cast<Float>(magnitude);
    const Float value = std::ldexp(rounded, static_cast<int>(position));
    return RoughNumber(negative ? -value : value, IsExact(magnitude) ? 0 : value * kRounding);
  }
  static RoughNumber Of(const LimbMagnitude& magnitude) {
    const int top = magnitude.end() - 1;
    if (top < 0) return RoughNumber();
    const uint64_t next = top > magnitude.lowest() ? magnitude[top - 1] : 0;
    const Uint128 leading = Uint128{magnitude[top]} << kLimbBits | next;
    const Float value = std::ldexp(static_cast<Float>(leading), kLimbBits * (top - 1));
    const bool is_exact = magnitude.lowest() >= top - 1 && IsExact(leading);
    return RoughNumber(magnitude.is_negative() ? -value : value, is_exact ? 0 : value * kRounding);
  }

  RoughNumber operator-() const { return RoughNumber(-value_, error_); }
  RoughNumber Magnitude() const { return RoughNumber(std::fabs(value_), error_); }

  friend RoughNumber operator+(const RoughNumber& a, const RoughNumber& b) {
    const Float sum = a.value_ + b.value_;
    if (a.error_ == 0 && b.error_ == 0) {
      // Knuth's sum of two: what was rounded away.
      const Float of_b = sum - a.value_;
      if ((a.value_ - (sum - of_b)) + (b.value_ - of_b) == 0) return RoughNumber(sum, 0);
    }
    return RoughNumber(sum, (a.error_ + b.error_) * kSlack + std::fabs(sum) * kRounding);
  }

  friend RoughNumber operator*(const RoughNumber& a, const RoughNumber& b) {
    const Float product = a.value_ * b.value_;
    if (a.error_ == 0 && b.error_ == 0 && ProductError(a.value_, b.value_, product) == 0) {
      return RoughNumber(product, 0);
    }
    const Float error =
        std::fabs(a.value_) * b.error_ + std::fabs(b.value_) * a.error_ + a.error_ * b.error_;
    return RoughNumber(product, error * kSlack + std::fabs(product) * kRounding);
  }

  friend bool operator<=(const RoughNumber& a, const RoughNumber& b) {
    if (a.error_ == 0 && b.error_ == 0) return a.value_ <= b.value_;
    return (b.value_ - a.value_) * (1 - kRounding) >= (a.error_ + b.error_) * kSlack;
  }
  friend bool operator>=(const RoughNumber& a, const RoughNumber& b) { return b <= a; }
  friend bool operator==(const RoughNumber& a, const RoughNumber& b) {
    return a.error_ == 0 && b.error_ == 0 && a.value_ == b.value_;
  }

 private:
  // Sums of squares of squares of float64, in units of its smallest number, stay in its range.
  using Float = long double;
  static constexpr int kDigits = std::numeric_limits<Float>::digits;
  static_assert(kDigits >= 64 && std::numeric_limits<Float>::max_exponent >= 16384);

  // More than what one operation, or all beyond 64 bits, is of a number; and more than what the
  // roundings of a few bounds are of them.
  static constexpr Float kRounding = 0x1p-61L;
  static constexpr Float kSlack = 1 + 0x1p-50L;

  RoughNumber(Float value, Float error) : value_(value), error_(error) {}

  // Whether its bits other than 0 at the end are no more than every Float has.
  static bool IsExact(Uint128 magnitude) {
    const auto low = static_cast<uint64_t>(magnitude);
    const auto high = static_cast<uint64_t>(magnitude >> kLimbBits);
    return high == 0 || low == 0 || kLimbBits - std::countl_zero(high) <= std::countr_zero(low);
  }

  Float value_ = 0;
  Float error_ = 0;  // The number is no further from the value.
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_ROUGH_NUMBER_H_
