// Arithmetic on integers of several 64-bit limbs, least significant limb first.
//
// Plain functions over arrays, for exact_sum.h and exact_quotient.h: what is long is the number,
// not the code. "Two's complement" says that an array is signed; all others are unsigned.
#ifndef GRIDFOLD_KERNELS_NUMERICS_LIMBS_H_
#define GRIDFOLD_KERNELS_NUMERICS_LIMBS_H_

#include <cstdint>

#include "kernels/numerics/host_device.h"
#include "kernels/numerics/wide_integer.h"

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

// One step of long division: the quotient's digit of (rest * 2^64 + digit) / divisor, and the new
// rest. Requires rest < divisor.
GRIDFOLD_HD inline uint64_t DivideStep(uint64_t& rest, uint64_t digit, uint64_t divisor) {
#ifdef __CUDA_ARCH__
  // In halves (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D): a device has no
  // division of 128 bits, and what stands for it takes ten times as long.
  constexpr int kHalf = kLimbBits / 2;
  constexpr uint64_t kLowHalf = (uint64_t{1} << kHalf) - 1;
  const int shift = LeadingZeros(divisor);
  const uint64_t d = divisor << shift;
  uint64_t r = shift == 0 ? rest : (rest << shift) | (digit >> (kLimbBits - shift));
  const uint64_t low = digit << shift;
  uint64_t quotient = 0;
  GRIDFOLD_ROLLED
  for (int half = 1; half >= 0; --half) {
    const uint64_t next = (low >> (half * kHalf)) & kLowHalf;
    uint64_t q = r / (d >> kHalf);
    uint64_t q_rest = r - q * (d >> kHalf);
    while ((q >> kHalf) != 0 || q * (d & kLowHalf) > ((q_rest << kHalf) | next)) {
      --q;
      q_rest += d >> kHalf;
      if ((q_rest >> kHalf) != 0) break;
    }
    r = (r << kHalf) + next - q * d;  // Modulo 2^64, which the difference is below.
    quotient = (quotient << kHalf) | q;
  }
  rest = r >> shift;
  return quotient;
#else
  const Uint128 dividend = (Uint128{rest} << kLimbBits) | digit;
  const uint64_t quotient = static_cast<uint64_t>(dividend / divisor);
  rest = static_cast<uint64_t>(dividend - Uint128{quotient} * divisor);
  return quotient;
#endif
}

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

// The absolute value of a number in two's complement.
GRIDFOLD_HD inline void MagnitudeOf(const uint64_t* limbs, int count, uint64_t* magnitude) {
  const bool negative = IsNegativeNumber(limbs, count);
  int end = SignificantLimbs(limbs, count, negative ? ~uint64_t{0} : 0);
  int i = 0;
  if (end > 0 || negative) {
    const int lowest = LowestLimb(limbs, count);
    if (end <= lowest) end = lowest + 1;  // -2^(64 * n).
    GRIDFOLD_ROLLED
    for (; i < lowest; ++i) magnitude[i] = 0;
    GRIDFOLD_ROLLED
    for (; i < end; ++i) {
      magnitude[i] = !negative ? limbs[i] : i == lowest ? uint64_t{0} - limbs[i] : ~limbs[i];
    }
  }
  GRIDFOLD_ROLLED
  for (; i < count; ++i) magnitude[i] = 0;
}

// limbs *= factor, modulo 2^(64 * count).
GRIDFOLD_HD inline void MultiplyBy(uint64_t* limbs, int count, uint64_t factor) {
  const int length = SignificantLimbs(limbs, count);
  if (length == 0) return;
  uint64_t carry = 0;
  GRIDFOLD_ROLLED
  for (int i = LowestLimb(limbs, count); i < length || (i < count && carry != 0); ++i) {
    const Uint128 product = Uint128{limbs[i]} * factor + carry;
    limbs[i] = static_cast<uint64_t>(product);
    carry = static_cast<uint64_t>(product >> kLimbBits);
  }
}

// limbs -= x * x, modulo 2^(64 * count).
GRIDFOLD_HD inline void SubtractSquare(uint64_t* limbs, int count, const uint64_t* x, int x_count) {
  const int length = SignificantLimbs(x, x_count);
  if (length == 0) return;
  const int lowest = LowestLimb(x, x_count);
  GRIDFOLD_ROLLED
  for (int i = lowest; i < length; ++i) {
    if (x[i] == 0) continue;
    GRIDFOLD_ROLLED
    for (int j = lowest; j < length; ++j) {
      if (x[j] != 0) SubtractAt(limbs, count, i + j, Uint128{x[i]} * x[j]);
    }
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_LIMBS_H_
