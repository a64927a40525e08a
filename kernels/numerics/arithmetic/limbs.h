// Arithmetic on integers of several 64-bit limbs, least significant limb first.
//
// Plain functions over arrays, for numerics/sums/exact_sum.h and exact_quotient.h: what is long is
// the number, not the code. "Two's complement" says that an array is signed; all others are
// unsigned.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_LIMBS_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_LIMBS_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

inline constexpr int kLimbBits = 64;

// Leading zero bits of x, which is not 0.
GRIDFOLD_HD inline int LeadingZeros(uint64_t x) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(x));
#else
  return __builtin_clzll(x);
#endif
}

GRIDFOLD_HD inline int BitLength(Uint128 x) {
  const uint64_t high = static_cast<uint64_t>(x >> kLimbBits);
  const uint64_t low = static_cast<uint64_t>(x);
  if (high != 0) return 2 * kLimbBits - LeadingZeros(high);
  return low == 0 ? 0 : kLimbBits - LeadingZeros(low);
}

// A divisor of numbers of many limbs, which are divided from the top by multiplying with its
// reciprocal (Moeller, Granlund 2011, "Improved division by invariant integers", algorithm 4): a
// device has no division of 64 bits, and what stands for it takes several times as long.
class LimbDivisor {
 public:
  // Requires a divisor other than 0.
  GRIDFOLD_HD explicit LimbDivisor(uint64_t divisor)
      : shift_(LeadingZeros(divisor)),
        normalized_(divisor << shift_),
        reciprocal_(ReciprocalOf(normalized_)) {}

  // One step: the quotient's digit of (rest * 2^64 + digit) / divisor, and the new rest. Requires
  // rest < divisor.
  GRIDFOLD_HD uint64_t Divide(uint64_t& rest, uint64_t digit) const {
    const uint64_t upper = (rest << shift_) | ((digit >> 1) >> (kLimbBits - 1 - shift_));
    const uint64_t lower = digit << shift_;
    const Uint128 estimate = Uint128{reciprocal_} * upper + ((Uint128{upper} << kLimbBits) | lower);
    uint64_t quotient = static_cast<uint64_t>(estimate >> kLimbBits) + 1;
    uint64_t r = lower - quotient * normalized_;  // Modulo 2^64.
    if (r > static_cast<uint64_t>(estimate)) {
      --quotient;
      r += normalized_;
    }
    if (r >= normalized_) {
      ++quotient;
      r -= normalized_;
    }
    rest = r >> shift_;
    return quotient;
  }

 private:
  // floor((2^128 - 1) / d) - 2^64 of a d of 64 bits: what float64 tells of it, then the rest.
  GRIDFOLD_HD static uint64_t ReciprocalOf(uint64_t d) {
    if (d << 1 == 0) return ~uint64_t{0};
    const double inverse = 1.0 / static_cast<double>(d);
    const double fraction = inverse * 0x1p64 - 1;  // Below 1, or all that 64 bits hold.
    uint64_t reciprocal = fraction < 1 ? static_cast<uint64_t>(fraction * 0x1p64) : ~uint64_t{0};
    // Below 2^78 in size.
    Int128 rest = static_cast<Int128>(~((Uint128{d} << kLimbBits) + Uint128{reciprocal} * d));
    const int64_t more = static_cast<int64_t>(
        static_cast<double>(static_cast<int64_t>(rest >> 32)) * 0x1p32 * inverse);
    reciprocal += static_cast<uint64_t>(more);
    rest -= Int128{more} * static_cast<Int128>(d);
    GRIDFOLD_ROLLED
    for (; rest < 0; rest += d) --reciprocal;
    GRIDFOLD_ROLLED
    for (; rest >= static_cast<Int128>(d); rest -= d) ++reciprocal;
    return reciprocal;
  }

  int shift_;
  uint64_t normalized_;  // With its first bit set.
  uint64_t reciprocal_;
};

// limbs += x * 2^(64 * first), modulo 2^(64 * count).
GRIDFOLD_HD inline void AddAt(uint64_t* limbs, int count, int first, Uint128 x) {
  bool carry = false;
  GRIDFOLD_ROLLED
  for (int i = first; i < count && (x != 0 || carry); ++i) {
    const Uint128 sum = Uint128{limbs[i]} + static_cast<uint64_t>(x) + (carry ? 1 : 0);
    limbs[i] = static_cast<uint64_t>(sum);
    carry = (sum >> kLimbBits) != 0;
    x >>= kLimbBits;
  }
}

// limbs -= x * 2^(64 * first), modulo 2^(64 * count).
GRIDFOLD_HD inline void SubtractAt(uint64_t* limbs, int count, int first, Uint128 x) {
  bool borrow = false;
  GRIDFOLD_ROLLED
  for (int i = first; i < count && (x != 0 || borrow); ++i) {
    const Uint128 difference = Uint128{limbs[i]} - static_cast<uint64_t>(x) - (borrow ? 1 : 0);
    limbs[i] = static_cast<uint64_t>(difference);
    borrow = (difference >> kLimbBits) != 0;
    x >>= kLimbBits;
  }
}

// limbs += other, modulo 2^(64 * count).
GRIDFOLD_HD inline void AddLimbs(uint64_t* limbs, const uint64_t* other, int count) {
  uint64_t carry = 0;
  GRIDFOLD_ROLLED
  for (int i = 0; i < count; ++i) {
    const Uint128 sum = Uint128{limbs[i]} + other[i] + carry;
    limbs[i] = static_cast<uint64_t>(sum);
    carry = static_cast<uint64_t>(sum >> kLimbBits);
  }
}

// Whether a number in two's complement is negative.
GRIDFOLD_HD inline bool IsNegativeNumber(const uint64_t* limbs, int count) {
  return static_cast<int64_t>(limbs[count - 1]) < 0;
}

// The least n with -2^n <= x < 2^n, x being a number in two's complement.
GRIDFOLD_HD inline int SignedLength(const uint64_t* limbs, int count) {
  const uint64_t sign = IsNegativeNumber(limbs, count) ? ~uint64_t{0} : 0;
  GRIDFOLD_ROLLED
  while (count > 0 && limbs[count - 1] == sign) --count;
  return count == 0 ? 0 : count * kLimbBits - LeadingZeros(limbs[count - 1] ^ sign);
}

// floor(x / 2^position) modulo 2^128, x being a number in two's complement.
GRIDFOLD_HD inline Uint128 BitsFrom(const uint64_t* limbs, int count, int position) {
  const uint64_t sign = IsNegativeNumber(limbs, count) ? ~uint64_t{0} : 0;
  const int first = position / kLimbBits;
  const int shift = position % kLimbBits;
  const auto limb = [&](int i) { return i < count ? limbs[i] : sign; };
  const Uint128 low = (Uint128{limb(first + 1)} << kLimbBits) | limb(first);
  if (shift == 0) return low;
  return (low >> shift) | (Uint128{limb(first + 2)} << (2 * kLimbBits - shift));
}

// Whether a number in two's complement has a bit set below 2^position.
GRIDFOLD_HD inline bool HasBitsBelow(const uint64_t* limbs, int position) {
  const int whole = position / kLimbBits;
  GRIDFOLD_ROLLED
  for (int i = 0; i < whole; ++i) {
    if (limbs[i] != 0) return true;
  }
  const int rest = position % kLimbBits;
  return rest != 0 && (limbs[whole] & ((uint64_t{1} << rest) - 1)) != 0;
}

// Exact numbers have few limbs that are neither 0 nor the sign's among many that are. These are
// passed over several at a time: one thread of a device waits for memory as long for all of them as
// for one.
inline constexpr int kLimbsTogether = 8;
#ifdef __CUDA_ARCH__
__device__ inline bool AreLimbs(const uint64_t* limbs, uint64_t value) {
  uint64_t difference = 0;
#pragma unroll
  for (int i = 0; i < kLimbsTogether; ++i) difference |= limbs[i] ^ value;
  return difference == 0;
}
#endif

// The first limb that is not 0. Requires that there is one.
GRIDFOLD_HD inline int LowestLimb(const uint64_t* limbs, [[maybe_unused]] int count) {
  int i = 0;
#ifdef __CUDA_ARCH__
  GRIDFOLD_ROLLED
  while (i + kLimbsTogether <= count && AreLimbs(limbs + i, 0)) i += kLimbsTogether;
#endif
  GRIDFOLD_ROLLED
  while (limbs[i] == 0) ++i;
  return i;
}

// Limbs up to the last that is not `value`, the sign's limb.
GRIDFOLD_HD inline int SignificantLimbs(const uint64_t* limbs, int count, uint64_t value = 0) {
#ifdef __CUDA_ARCH__
  GRIDFOLD_ROLLED
  while (count >= kLimbsTogether && AreLimbs(limbs + count - kLimbsTogether, value)) {
    count -= kLimbsTogether;
  }
#endif
  GRIDFOLD_ROLLED
  while (count > 0 && limbs[count - 1] == value) --count;
  return count;
}

// The absolute value of a number, whose limbs stay where they are. Of many limbs few need to be
// looked at: those from lowest() to end(), of which the first and the last are not 0.
class LimbMagnitude {
 public:
  // The magnitude of a number in two's complement.
  GRIDFOLD_HD static LimbMagnitude OfSigned(const uint64_t* limbs, int count) {
    return {limbs, count, IsNegativeNumber(limbs, count)};
  }
  GRIDFOLD_HD static LimbMagnitude OfUnsigned(const uint64_t* limbs, int count) {
    return {limbs, count, false};
  }

  // The sign of the number.
  GRIDFOLD_HD bool is_negative() const { return is_negative_; }
  // Both 0 where the number is 0.
  GRIDFOLD_HD int lowest() const { return lowest_; }
  GRIDFOLD_HD int end() const { return end_; }
  // Requires lowest() <= i < end().
  GRIDFOLD_HD uint64_t operator[](int i) const {
    const uint64_t limb = limbs_[i];
    if (!is_negative_) return limb;
    return i == lowest_ ? uint64_t{0} - limb : ~limb;
  }

 private:
  GRIDFOLD_HD LimbMagnitude(const uint64_t* limbs, int count, bool is_negative)
      : limbs_(limbs),
        is_negative_(is_negative),
        end_(SignificantLimbs(limbs, count, is_negative ? ~uint64_t{0} : 0)) {
    if (end_ == 0 && !is_negative) return;
    lowest_ = LowestLimb(limbs, count);
    if (end_ <= lowest_) end_ = lowest_ + 1;  // -2^(64 * n).
  }

  const uint64_t* limbs_;
  bool is_negative_;
  int lowest_ = 0;
  int end_;
};

// product = x * factor, of which limbs from x.lowest() to x.end() are written, the last included.
GRIDFOLD_HD inline void Multiply(const LimbMagnitude& x, uint64_t factor, uint64_t* product) {
  uint64_t carry = 0;
  GRIDFOLD_ROLLED
  for (int i = x.lowest(); i < x.end(); ++i) {
    const Uint128 sum = Uint128{x[i]} * factor + carry;
    product[i] = static_cast<uint64_t>(sum);
    carry = static_cast<uint64_t>(sum >> kLimbBits);
  }
  product[x.end()] = carry;
}

// limbs -= x * x, modulo 2^(64 * count). Limbs below 2 * x.lowest() are not looked at.
GRIDFOLD_HD inline void SubtractSquare(uint64_t* limbs, int count, const LimbMagnitude& x) {
  GRIDFOLD_ROLLED
  for (int i = x.lowest(); i < x.end(); ++i) {
    const uint64_t factor = x[i];
    uint64_t carry = 0;
    GRIDFOLD_ROLLED
    for (int j = x.lowest(); i + j < count && (j < x.end() || carry != 0); ++j) {
      const Uint128 product = Uint128{factor} * (j < x.end() ? x[j] : 0) + carry;
      const uint64_t low = static_cast<uint64_t>(product);
      const uint64_t limb = limbs[i + j];
      limbs[i + j] = limb - low;
      carry = static_cast<uint64_t>(product >> kLimbBits) + (limb < low ? 1 : 0);
    }
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_LIMBS_H_
