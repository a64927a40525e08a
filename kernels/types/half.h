// 16-bit floating-point elements: IEEE 754 binary16 and bfloat16, as plain storage with
// conversions.
//
// Every value of both types is exact in float and in double. Conversion from double rounds once, to
// the nearest, ties to even; going through float would round twice. A NaN keeps its sign and
// becomes the quiet one. Devices convert by instructions of theirs, which give the same bits.
#ifndef GRIDFOLD_KERNELS_TYPES_HALF_H_
#define GRIDFOLD_KERNELS_TYPES_HALF_H_

#include <bit>
#include <cstdint>

#include "kernels/types/host_device.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace gridfold::kernels {

namespace half_internal {

// Rounds |x|'s bits to a format with `kMantissaBits` explicit bits of significand and exponents
// from kMinExponent (of the smallest normal number) to kMaxExponent; returns exponent and
// significand fields joined.
template <int kMantissaBits, int kMinExponent, int kMaxExponent>
GRIDFOLD_HD inline uint32_t RoundMagnitude(uint64_t magnitude_bits) {
  constexpr uint32_t kInfinity = uint32_t{kMaxExponent - kMinExponent + 2} << kMantissaBits;
  if (magnitude_bits >= 0x7FF0'0000'0000'0000u) {
    if (magnitude_bits == 0x7FF0'0000'0000'0000u) return kInfinity;
    return kInfinity | (1u << (kMantissaBits - 1));  // Quiet NaN.
  }
  const int exponent = static_cast<int>(magnitude_bits >> 52) - 1023;
  if (exponent > kMaxExponent) return kInfinity;
  if (exponent < kMinExponent - kMantissaBits - 1) return 0;
  const uint64_t significand = (magnitude_bits & 0xF'FFFF'FFFF'FFFFu) | (uint64_t{1} << 52);
  const bool normal = exponent >= kMinExponent;
  const int shift = 52 - kMantissaBits + (normal ? 0 : kMinExponent - exponent);
  const uint64_t kept = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t rounded = kept + ((rest > half || (rest == half && (kept & 1) != 0)) ? 1 : 0);
  // A carry out of the significand moves into the exponent field, up to infinity, by itself.
  const uint32_t base =
      normal ? static_cast<uint32_t>(exponent - kMinExponent) << kMantissaBits : 0;
  return base + static_cast<uint32_t>(rounded);
}

}  // namespace half_internal

// IEEE 754 binary16.
struct Float16 {
  uint16_t bits;

  GRIDFOLD_HD static Float16 FromDouble(double x) {
    const uint64_t b = std::bit_cast<uint64_t>(x);
#ifdef __CUDA_ARCH__
    return x == x ? FromNumber(x) : Float16{static_cast<uint16_t>((b >> 63 << 15) | 0x7E00)};
#else
    const uint32_t magnitude =
        half_internal::RoundMagnitude<10, -14, 15>(b & 0x7FFF'FFFF'FFFF'FFFFu);
    return Float16{static_cast<uint16_t>((b >> 63 << 15) | magnitude)};
#endif
  }
  // FromDouble of what is not NaN.
  GRIDFOLD_HD static Float16 FromNumber(double x) {
#ifdef __CUDA_ARCH__
    return Float16{std::bit_cast<uint16_t>(__double2half(x))};
#else
    return FromDouble(x);
#endif
  }

  // FromFloat gives what FromDouble gives.
  GRIDFOLD_HD static Float16 FromFloat(float x) {
#ifdef __CUDA_ARCH__
    const uint32_t quiet_nan = (std::bit_cast<uint32_t>(x) >> 31 << 15) | 0x7E00;
    return Float16{x == x ? std::bit_cast<uint16_t>(__float2half_rn(x))
                          : static_cast<uint16_t>(quiet_nan)};
#else
    return FromDouble(x);
#endif
  }

  GRIDFOLD_HD explicit operator float() const {
#ifdef __CUDA_ARCH__
    return __half2float(std::bit_cast<__half>(bits));
#else
    // Without branches, so that loops over arrays vectorise. A subnormal is taken as the fraction
    // of a number from 2^-14 to 2^-13, and 2^-14 is subtracted again.
    const uint32_t exponent = bits & 0x7C00;
    const uint32_t if_subnormal = (exponent - 1) >> 31;
    const uint32_t if_not_finite = (exponent + 0x400) >> 15;
    const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
    const uint32_t shifted = (uint32_t{bits & 0x7FFFu} << 13) + ((112 + if_subnormal) << 23);
    const float excess =
        std::bit_cast<float>((0 - if_subnormal) & std::bit_cast<uint32_t>(0x1p-14f));
    const uint32_t magnitude = std::bit_cast<uint32_t>(std::bit_cast<float>(shifted) - excess);
    return std::bit_cast<float>(sign | magnitude | ((0 - if_not_finite) & 0x7F80'0000u));
#endif
  }
  GRIDFOLD_HD explicit operator double() const {
    return static_cast<double>(static_cast<float>(*this));
  }
};

// The upper half of an IEEE 754 binary32.
struct Bfloat16 {
  uint16_t bits;

  GRIDFOLD_HD static Bfloat16 FromDouble(double x) {
    const uint64_t b = std::bit_cast<uint64_t>(x);
#ifdef __CUDA_ARCH__
    return x == x ? FromNumber(x) : Bfloat16{static_cast<uint16_t>((b >> 63 << 15) | 0x7FC0)};
#else
    const uint32_t magnitude =
        half_internal::RoundMagnitude<7, -126, 127>(b & 0x7FFF'FFFF'FFFF'FFFFu);
    return Bfloat16{static_cast<uint16_t>((b >> 63 << 15) | magnitude)};
#endif
  }
  // FromDouble of what is not NaN.
  GRIDFOLD_HD static Bfloat16 FromNumber(double x) {
#ifdef __CUDA_ARCH__
    return Bfloat16{std::bit_cast<uint16_t>(__double2bfloat16(x))};
#else
    return FromDouble(x);
#endif
  }

  // The same as FromDouble.
  GRIDFOLD_HD static Bfloat16 FromFloat(float x) {
#ifdef __CUDA_ARCH__
    const uint32_t quiet_nan = (std::bit_cast<uint32_t>(x) >> 31 << 15) | 0x7FC0;
    return Bfloat16{x == x ? std::bit_cast<uint16_t>(__float2bfloat16_rn(x))
                           : static_cast<uint16_t>(quiet_nan)};
#else
    return FromDouble(x);
#endif
  }

  GRIDFOLD_HD explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  GRIDFOLD_HD explicit operator double() const {
    return static_cast<double>(static_cast<float>(*this));
  }
};

static_assert(sizeof(Float16) == 2 && sizeof(Bfloat16) == 2);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_HALF_H_
