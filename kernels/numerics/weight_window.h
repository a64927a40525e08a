// Weights as integers of few words. A bin's sum is a number of 32-bit words in a window of binary
// places that reaches from a little above an array's largest weights as far down as there are words
// for: 34 binades with three of them, all that there are with eight and weights of usual size.
#ifndef GRIDFOLD_KERNELS_NUMERICS_WEIGHT_WINDOW_H_
#define GRIDFOLD_KERNELS_NUMERICS_WEIGHT_WINDOW_H_

#include <cstdint>

#include "kernels/numerics/host_device.h"

namespace gridfold::kernels {

inline constexpr int kWindowWordBits = 32;
inline constexpr uint32_t kWindowWordsMin = 3;
inline constexpr uint32_t kWindowWordsMax = 8;

// A word of sums that are 0: far from both ends, so that sums near 0 do not carry to and fro.
inline constexpr uint32_t kWindowWordZero = 0x8000'0000;

// (high * 2^32 + low) * 2^(32 * word) units of the window; what does not fit is any number.
struct WindowNumber {
  uint32_t word;
  uint32_t low;
  int32_t high;
  bool fits;
};

// Of sums of 2^23 float32 weights each.
struct WeightWindow {
  int32_t origin = 0;      // A unit is 2^origin times the least float.
  uint32_t place_max = 0;  // Least significant places of weights that fit, from the origin on.
};

// The window of so many words for weights up to the one with these bits, without the sign, or 2^14
// times that. Weights near it are below 2^26 units of their word, so that few carry.
GRIDFOLD_HD inline WeightWindow WindowFor(uint32_t largest_bits, uint32_t words) {
  constexpr int kFractionBits = 23;
  constexpr int kSumBits = 48;  // 24 of a weight, 23 of their number, and a sign.
  constexpr int kPlacesAboveLargest = 14;
  constexpr int kFinitePlaceMax = 253;
  const int exponent = static_cast<int>(largest_bits >> kFractionBits);
  const int place = exponent > 0 ? exponent - 1 : 0;
  const int place_max = static_cast<int>(words) * kWindowWordBits - kSumBits;
  const int origin = place + kPlacesAboveLargest - place_max;
  const int finite_max = kFinitePlaceMax - origin;
  return {origin, static_cast<uint32_t>(place_max < finite_max ? place_max : finite_max)};
}

// (value * 2^(place % 32)), in two words.
GRIDFOLD_HD inline void ShiftInWords(int32_t value, uint32_t place, WindowNumber& number) {
  const int64_t shifted =
      static_cast<int64_t>(static_cast<uint64_t>(int64_t{value}) << place % kWindowWordBits);
  number.low = static_cast<uint32_t>(shifted);
  number.high = static_cast<int32_t>(shifted >> kWindowWordBits);
}

// The float32 weight with these bits in units of the window.
GRIDFOLD_HD inline WindowNumber NumberInWindow(uint32_t bits, const WeightWindow& window) {
  constexpr uint32_t kHidden = uint32_t{1} << 23;
  const uint32_t size_bits = bits & 0x7FFF'FFFF;
  const int exponent = static_cast<int>(size_bits >> 23);
  const int place = (exponent > 1 ? exponent : 1) - 1 - window.origin;
  const uint32_t significand = (bits & (kHidden - 1)) | (exponent > 0 ? kHidden : 0);
  const int32_t value = static_cast<int32_t>(bits) < 0 ? -static_cast<int32_t>(significand)
                                                       : static_cast<int32_t>(significand);
  // Zeros fit anywhere.
  const uint32_t from_origin = size_bits == 0 ? 0 : static_cast<uint32_t>(place);
  WindowNumber number;
  number.word = from_origin / kWindowWordBits;
  ShiftInWords(value, from_origin, number);
  number.fits = from_origin <= window.place_max;
  return number;
}

// An integer weight of 32 bits or fewer, extended to 64, in a window of units of 1.
GRIDFOLD_HD inline WindowNumber NumberOfInteger(int64_t weight) {
  return {0, static_cast<uint32_t>(weight), static_cast<int32_t>(weight >> 32), true};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_WEIGHT_WINDOW_H_
