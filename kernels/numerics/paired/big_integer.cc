#include "kernels/numerics/paired/big_integer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/numerics/arithmetic/limbs.h"

namespace gridfold::kernels {

namespace {

using Limbs = std::vector<uint64_t>;

void Trim(Limbs& limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
}

// Whether a < b, both trimmed.
bool IsLess(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

Limbs Sum(const Limbs& a, const Limbs& b) {
  Limbs sum(std::max(a.size(), b.size()) + 1);
  std::copy(a.begin(), a.end(), sum.begin());
  uint64_t carry = 0;
  for (size_t i = 0; i < sum.size(); ++i) {
    const Uint128 digit = Uint128{sum[i]} + (i < b.size() ? b[i] : 0) + carry;
    sum[i] = static_cast<uint64_t>(digit);
    carry = static_cast<uint64_t>(digit >> kLimbBits);
  }
  Trim(sum);
  return sum;
}

// a -= b; requires b <= a.
void Subtract(Limbs& a, const Limbs& b) {
  bool borrow = false;
  for (size_t i = 0; i < a.size() && (i < b.size() || borrow); ++i) {
    const Uint128 difference =
        Uint128{a[i]} - (i < b.size() ? b[i] : 0) - (borrow ? uint64_t{1} : uint64_t{0});
    a[i] = static_cast<uint64_t>(difference);
    borrow = (difference >> kLimbBits) != 0;
  }
  Trim(a);
}

void Double(Limbs& x) {
  uint64_t carry = 0;
  for (uint64_t& limb : x) carry = std::exchange(limb, (limb << 1) | carry) >> (kLimbBits - 1);
  if (carry != 0) x.push_back(carry);
}

Limbs ShiftUp(const Limbs& x, int bits) {
  if (x.empty()) return {};
  const size_t whole = static_cast<size_t>(bits / kLimbBits);
  const int shift = bits % kLimbBits;
  Limbs shifted(x.size() + whole + 1);
  for (size_t i = 0; i < x.size(); ++i) {
    const Uint128 wide = Uint128{x[i]} << shift;
    shifted[i + whole] |= static_cast<uint64_t>(wide);
    shifted[i + whole + 1] = static_cast<uint64_t>(wide >> kLimbBits);
  }
  Trim(shifted);
  return shifted;
}

int LengthOf(const Limbs& x) {
  return x.empty() ? 0 : static_cast<int>(x.size()) * kLimbBits - LeadingZeros(x.back());
}

// Limbs at the low end that are 0. Requires that x is not 0.
int DropZeroLimbs(Limbs& x) {
  const auto first = std::find_if(x.begin(), x.end(), [](uint64_t limb) { return limb != 0; });
  const auto count = first - x.begin();
  x.erase(x.begin(), first);
  return static_cast<int>(count);
}

}  // namespace

BigInteger::BigInteger(uint64_t x) {
  if (x != 0) magnitude_ = {x};
}

BigInteger BigInteger::OfSigned(std::span<const uint64_t> limbs) {
  const LimbMagnitude magnitude =
      LimbMagnitude::OfSigned(limbs.data(), static_cast<int>(limbs.size()));
  BigInteger x;
  x.negative_ = magnitude.is_negative();
  x.magnitude_.resize(static_cast<size_t>(magnitude.end()));
  for (int i = magnitude.lowest(); i < magnitude.end(); ++i) {
    x.magnitude_[static_cast<size_t>(i)] = magnitude[i];
  }
  x.Trim();
  return x;
}

void BigInteger::Trim() {
  kernels::Trim(magnitude_);
  negative_ = negative_ && !magnitude_.empty();
}

int BigInteger::bit_length() const { return LengthOf(magnitude_); }

BigInteger BigInteger::Times(const BigInteger& other) const {
  BigInteger product;
  product.negative_ = negative_ != other.negative_;
  product.magnitude_.resize(magnitude_.size() + other.magnitude_.size());
  for (size_t i = 0; i < magnitude_.size(); ++i) {
    if (magnitude_[i] == 0) continue;  // As many are.
    uint64_t carry = 0;
    for (size_t j = 0; j < other.magnitude_.size(); ++j) {
      uint64_t& limb = product.magnitude_[i + j];
      const Uint128 digit = Uint128{magnitude_[i]} * other.magnitude_[j] + limb + carry;
      limb = static_cast<uint64_t>(digit);
      carry = static_cast<uint64_t>(digit >> kLimbBits);
    }
    product.magnitude_[i + other.magnitude_.size()] = carry;
  }
  product.Trim();
  return product;
}

BigInteger BigInteger::Minus(const BigInteger& other) const {
  BigInteger difference;
  if (negative_ != other.negative_) {
    difference.magnitude_ = Sum(magnitude_, other.magnitude_);
    difference.negative_ = negative_;
  } else if (IsLess(magnitude_, other.magnitude_)) {
    difference.magnitude_ = other.magnitude_;
    Subtract(difference.magnitude_, magnitude_);
    difference.negative_ = !negative_;
  } else {
    difference.magnitude_ = magnitude_;
    Subtract(difference.magnitude_, other.magnitude_);
    difference.negative_ = negative_;
  }
  difference.Trim();
  return difference;
}

BigInteger BigInteger::ShiftedUp(int bits) const {
  BigInteger shifted;
  shifted.magnitude_ = ShiftUp(magnitude_, bits);
  shifted.negative_ = negative_;
  return shifted;
}

LeadingBits LeadingRatio(const BigInteger& numerator, const BigInteger& denominator, int exponent) {
  if (numerator.is_zero()) return {};
  Limbs rest = numerator.magnitude();
  Limbs divisor = denominator.magnitude();
  exponent += kLimbBits * (DropZeroLimbs(rest) - DropZeroLimbs(divisor));
  // A quotient of kQuotientBits or one more.
  constexpr int kQuotientBits = 127;
  const int length = LengthOf(rest) - LengthOf(divisor);
  if (length < kQuotientBits) rest = ShiftUp(rest, kQuotientBits - length);
  if (length > kQuotientBits) divisor = ShiftUp(divisor, length - kQuotientBits);
  exponent += length - kQuotientBits;
  // Bit by bit from the top: the rest stays below twice the divisor, which is as large as that bit.
  divisor = ShiftUp(divisor, kQuotientBits);
  LeadingBits quotient{.bits = 0, .exponent = exponent, .has_fraction = false};
  for (int i = 0; i <= kQuotientBits; ++i) {
    if (i > 0) Double(rest);
    quotient.bits <<= 1;
    if (IsLess(rest, divisor)) continue;
    Subtract(rest, divisor);
    quotient.bits |= 1;
  }
  quotient.has_fraction = !rest.empty();
  return quotient;
}

double RoundedRatio(const BigInteger& numerator, const BigInteger& denominator, int exponent) {
  const double magnitude = RoundToDouble(LeadingRatio(numerator, denominator, exponent));
  return numerator.is_negative() ? -magnitude : magnitude;
}

}  // namespace gridfold::kernels
