// Float32 weights as fixed-point numbers: most of an array's are multiples of one small power of
// two and not much larger than its largest, so that a sum of few words holds them exactly.
#ifndef GRIDFOLD_KERNELS_NUMERICS_WEIGHT_WINDOW_H_
#define GRIDFOLD_KERNELS_NUMERICS_WEIGHT_WINDOW_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/host_device.h"

namespace gridfold::kernels {

// high * 2^32 + low units; what does not fit is not exact, and any number.
struct WindowNumber {
  int32_t high;
  uint32_t low;
  bool is_exact;
};

// Numbers below this many units in size are exact, so that 2^23 of them sum up to less than 2^63.
inline constexpr int kWindowNumberBits = 39;
// Units of the window are so many bits above those of the lower one.
inline constexpr int kLowerWindowBits = 32;

struct WeightWindow {
  double scale = 1;       // Units per 1, a power of two.
  uint32_t position = 0;  // A unit is 2^position times the least float; at least kLowerWindowBits.
};

// The window for weights up to the one with these bits, without the sign, or twice that.
GRIDFOLD_HD inline WeightWindow WindowFor(uint32_t largest_bits) {
  constexpr int kFractionBits = 23;
  constexpr int kBias = 127;
  constexpr int kLeastExponent = -149;
  const int exponent = static_cast<int>(largest_bits >> kFractionBits) - kBias;
  const int wanted = exponent + 2 - kWindowNumberBits;
  constexpr int kUnitMin = kLeastExponent + kLowerWindowBits;
  const int unit = wanted > kUnitMin ? wanted : kUnitMin;
  // By its bits: ldexp is a loop on a device.
  const uint64_t scale_bits = static_cast<uint64_t>(1023 - unit) << 52;
  return {std::bit_cast<double>(scale_bits), static_cast<uint32_t>(unit - kLeastExponent)};
}

// The weight in units of a window with this scale.
GRIDFOLD_HD inline WindowNumber NumberInWindow(double weight, double scale) {
  // A double of [2^52, 2^53) is an integer, which its low bits are.
  constexpr double kBase = 0x1.8p52;
  constexpr uint32_t kBaseHighWord = 0x4338'0000;
  constexpr uint32_t kHighLimit = uint32_t{1} << (kWindowNumberBits - 32);
  const double sum = fma(weight, scale, kBase);
  const double error = fma(weight, scale, kBase - sum);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  const uint32_t high = static_cast<uint32_t>(bits >> 32) - kBaseHighWord;
  return {static_cast<int32_t>(high), static_cast<uint32_t>(bits),
          error == 0 && high + kHighLimit < 2 * kHighLimit};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_WEIGHT_WINDOW_H_
