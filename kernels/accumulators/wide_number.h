// Exact integers of many limbs with a sign, of which few are other than 0: for checks that compare
// sums of numbers of any size with one another. Host only; for contradictions.h.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_WIDE_NUMBER_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_WIDE_NUMBER_H_

#include <algorithm>
#include <compare>
#include <cstdint>

#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels {

// Takes time in proportion to the limbs from the lowest to the highest that is not 0. Requires that
// no result has more than `kLimbs` limbs.
template <int kLimbs>
class WideNumber {
 public:
  WideNumber() = default;  // 0.
  WideNumber(const WideNumber& other)
      : begin_(other.begin_), end_(other.end_), negative_(other.negative_) {
    std::copy(other.limbs_ + begin_, other.limbs_ + end_, limbs_ + begin_);
  }
  WideNumber& operator=(const WideNumber& other) {
    begin_ = other.begin_;
    end_ = other.end_;
    negative_ = other.negative_;
    std::copy(other.limbs_ + begin_, other.limbs_ + end_, limbs_ + begin_);
    return *this;
  }

  // +-magnitude * 2^position.
  static WideNumber Of(Uint128 magnitude, bool negative = false, uint32_t position = 0) {
    const int first = static_cast<int>(position / kLimbBits);
    const int shift = static_cast<int>(position % kLimbBits);
    const Uint128 high = (magnitude >> (kLimbBits - shift)) >> kLimbBits;
    const Uint128 low = magnitude << shift;
    WideNumber number;
    number.Open(first, first + 3);
    number.limbs_[first] = static_cast<uint64_t>(low);
    number.limbs_[first + 1] = static_cast<uint64_t>(low >> kLimbBits);
    number.limbs_[first + 2] = static_cast<uint64_t>(high);
    number.Close(negative);
    return number;
  }
  static WideNumber Of(const LimbMagnitude& magnitude) {
    WideNumber number;
    number.Open(magnitude.lowest(), magnitude.end());
    for (int i = number.begin_; i < number.end_; ++i) number.limbs_[i] = magnitude[i];
    number.Close(magnitude.is_negative());
    return number;
  }

  bool is_zero() const { return begin_ == end_; }
  bool is_odd() const { return (limb(0) & 1) != 0; }

  WideNumber operator-() const {
    WideNumber number = *this;
    number.negative_ = !negative_ && !is_zero();
    return number;
  }
  WideNumber Magnitude() const { return negative_ ? -*this : *this; }

  friend WideNumber operator+(const WideNumber& a, const WideNumber& b) {
    if (a.negative_ == b.negative_) return AddMagnitudes(a, b);
    return CompareMagnitudes(a, b) >= 0 ? SubtractMagnitudes(a, b) : SubtractMagnitudes(b, a);
  }
  friend WideNumber operator-(const WideNumber& a, const WideNumber& b) { return a + -b; }

  friend WideNumber operator*(const WideNumber& a, const WideNumber& b) {
    WideNumber product;
    if (a.is_zero() || b.is_zero()) return product;
    product.Open(a.begin_ + b.begin_, a.end_ + b.end_);
    for (int i = a.begin_; i < a.end_; ++i) {
      uint64_t carry = 0;
      for (int j = b.begin_; j < b.end_; ++j) {
        const Uint128 sum = Uint128{a.limbs_[i]} * b.limbs_[j] + product.limbs_[i + j] + carry;
        product.limbs_[i + j] = static_cast<uint64_t>(sum);
        carry = static_cast<uint64_t>(sum >> kLimbBits);
      }
      product.limbs_[i + b.end_] = carry;
    }
    product.Close(a.negative_ != b.negative_);
    return product;
  }

  friend bool operator==(const WideNumber& a, const WideNumber& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const WideNumber& a, const WideNumber& b) {
    if (a.negative_ != b.negative_) {
      return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    return a.negative_ ? CompareMagnitudes(b, a) : CompareMagnitudes(a, b);
  }

 private:
  uint64_t limb(int i) const { return i >= begin_ && i < end_ ? limbs_[i] : 0; }

  void Open(int begin, int end) {
    begin_ = begin;
    end_ = end;
    std::fill(limbs_ + begin, limbs_ + end, 0);
  }
  // Leaves out zeros at both ends; 0 has no sign.
  void Close(bool negative) {
    while (end_ > begin_ && limbs_[end_ - 1] == 0) --end_;
    while (end_ > begin_ && limbs_[begin_] == 0) ++begin_;
    negative_ = negative && !is_zero();
  }

  static std::strong_ordering CompareMagnitudes(const WideNumber& a, const WideNumber& b) {
    if (a.is_zero() || b.is_zero()) return !a.is_zero() <=> !b.is_zero();
    if (a.end_ != b.end_) return a.end_ <=> b.end_;
    for (int i = a.end_ - 1; i >= std::min(a.begin_, b.begin_); --i) {
      if (a.limb(i) != b.limb(i)) return a.limb(i) <=> b.limb(i);
    }
    return std::strong_ordering::equal;
  }

  static WideNumber AddMagnitudes(const WideNumber& a, const WideNumber& b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    WideNumber sum;
    sum.Open(std::min(a.begin_, b.begin_), std::max(a.end_, b.end_) + 1);
    Uint128 carry = 0;
    for (int i = sum.begin_; i < sum.end_; ++i) {
      carry += Uint128{a.limb(i)} + b.limb(i);
      sum.limbs_[i] = static_cast<uint64_t>(carry);
      carry >>= kLimbBits;
    }
    sum.Close(a.negative_);
    return sum;
  }

  // Requires a magnitude of `a` that is no smaller than that of `b`.
  static WideNumber SubtractMagnitudes(const WideNumber& a, const WideNumber& b) {
    if (b.is_zero()) return a;
    WideNumber difference;
    difference.Open(std::min(a.begin_, b.begin_), a.end_);
    uint64_t borrow = 0;
    for (int i = difference.begin_; i < difference.end_; ++i) {
      const Uint128 limb = Uint128{a.limb(i)} - b.limb(i) - borrow;
      difference.limbs_[i] = static_cast<uint64_t>(limb);
      borrow = (limb >> kLimbBits) != 0 ? 1 : 0;
    }
    difference.Close(a.negative_);
    return difference;
  }

  // The limbs [begin_, end_) are set, of which the first and the last are not 0; the others are not
  // set.
  uint64_t limbs_[kLimbs];
  int begin_ = 0;
  int end_ = 0;
  bool negative_ = false;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_WIDE_NUMBER_H_
