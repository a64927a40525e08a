// Weights as integers of few words. A bin's sum is a number of 32-bit words in a window of binary
// places that reaches from a little above an array's largest weights as far down as there are words
// for. Of float32 weights: 36 binades with three of them, all that there are with eight and weights
// of usual size. Of float64: 40 with four, 424 with sixteen.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SUMS_WEIGHT_WINDOW_H_
#define GRIDFOLD_KERNELS_NUMERICS_SUMS_WEIGHT_WINDOW_H_

#include <bit>
#include <cstdint>

#include "kernels/types/host_device.h"

namespace gridfold::kernels {

inline constexpr int kWindowWordBits = 32;
inline constexpr uint32_t kWindowWordsMin = 3;
inline constexpr uint32_t kWindowWordsMax = 8;
inline constexpr uint32_t kDoubleWindowWordsMin = 4;
inline constexpr uint32_t kDoubleWindowWordsMax = 16;

// A word of sums that are 0: far from both ends, so that sums near 0 do not carry to and fro.
inline constexpr uint32_t kWindowWordZero = 0x8000'0000;

// value * 2^(32 * word) units of the window; what does not fit is any number.
struct WindowNumber {
  uint32_t word;
  int64_t value;
  bool fits;
};

// high * 2^32 + low, in units of a word.
struct WideUnits {
  uint32_t low;
  int64_t high;
};

// The window of sums of 2^23 weights each.
struct WeightWindow {
  int32_t origin = 0;      // A unit is 2^origin times the least number of the weights' type.
  uint32_t place_max = 0;  // Least significant places of weights that fit, from the origin on.
};

// The window of so many words for weights of up to 2^places_above times one that has `exponent` in
// its bits. Weights have so many bits, and the largest ones that are finite so many places.
GRIDFOLD_HD inline WeightWindow WindowAround(uint32_t exponent, int places_above, int weight_bits,
                                             int finite_places, uint32_t words) {
  constexpr int kMoreSumBits = 24;  // 23 of the number of weights, and a sign.
  const int place = exponent > 0 ? static_cast<int>(exponent) - 1 : 0;
  const int place_max = static_cast<int>(words) * kWindowWordBits - weight_bits - kMoreSumBits;
  const int origin = place + places_above - place_max;
  const int finite_max = finite_places - 1 - origin;
  return {origin, static_cast<uint32_t>(place_max < finite_max ? place_max : finite_max)};
}

// The window of so many words for float32 weights up to the one with these bits, without the sign,
// or 2^12 times that. Weights near it are below 2^28 units of their word, so that few carry, and
// those down to 2^-5 of it end in that word, too.
GRIDFOLD_HD inline WeightWindow WindowFor(uint32_t largest_bits, uint32_t words) {
  return WindowAround(largest_bits >> 23, 12, 24, 254, words);
}

// The window for float64 weights up to the one with these upper bits, or 2^11 times that. Weights
// near it are below 2^61 units of their word, and those down to 2^-8 of it end in the next one.
GRIDFOLD_HD inline WeightWindow DoubleWindowFor(uint32_t largest_upper_bits, uint32_t words) {
  return WindowAround(largest_upper_bits >> 20, 11, 53, 2046, words);
}

// Where a weight is from the window's origin on, in units of 2^-23 places.
GRIDFOLD_HD inline uint32_t HeightInWindow(uint32_t bits, const WeightWindow& window) {
  return (bits & 0x7FFF'FFFF) - (static_cast<uint32_t>(window.origin + 1) << 23);
}

// Whether a weight at this height is in the window.
GRIDFOLD_HD inline bool IsInside(uint32_t height, const WeightWindow& window) {
  return height <= ((window.place_max << 23) | ((uint32_t{1} << 23) - 1));
}

// Of a weight inside. Any other's is less than 16.
GRIDFOLD_HD inline uint32_t WordAt(uint32_t height) { return height >> 28; }

// The float32 weight with these bits in units of 2^(base - 149). Requires that it is a whole number
// of them, below 2^62 in size; or is 0, and |base| < 800.
GRIDFOLD_HD inline int64_t UnitsOf(uint32_t bits, int base) {
  const uint32_t exponent = static_cast<uint32_t>(1023 + 149 - base);
  const double scale = std::bit_cast<double>(static_cast<uint64_t>(exponent) << 52);
  return static_cast<int64_t>(static_cast<double>(std::bit_cast<float>(bits)) * scale);
}

// The weight in units of a word of the window that it is inside of. What is subnormal counts as one
// place lower than it is, which makes no difference to whole numbers.
GRIDFOLD_HD inline int64_t UnitsOfWord(uint32_t bits, uint32_t word, const WeightWindow& window) {
  return UnitsOf(bits, window.origin + static_cast<int>(word * kWindowWordBits));
}

// The float32 weight with these bits in units of the window. Zeros fit any.
GRIDFOLD_HD inline WindowNumber NumberInWindow(uint32_t bits, const WeightWindow& window) {
  const uint32_t height = HeightInWindow(bits, window);
  if (!IsInside(height, window)) return {0, 0, bits << 1 == 0};
  const uint32_t word = WordAt(height);
  return {word, UnitsOfWord(bits, word, window), true};
}

// How many places a float64 weight is from the window's origin on.
GRIDFOLD_HD inline uint32_t DoubleHeightInWindow(uint64_t bits, const WeightWindow& window) {
  const uint32_t exponent = static_cast<uint32_t>(bits >> 52) & 0x7FF;
  const uint32_t place = exponent > 0 ? exponent - 1 : 0;
  return place - static_cast<uint32_t>(window.origin);
}

// The float64 weight with these bits in units of the word of its window that it is inside of, where
// it is `shift` places from the word's first, shift < 32.
GRIDFOLD_HD inline WideUnits DoubleUnits(uint64_t bits, uint32_t shift) {
  constexpr uint64_t kImplicitBit = uint64_t{1} << 52;
  const bool is_normal = (bits >> 52 & 0x7FF) != 0;
  const uint64_t magnitude = (bits & (kImplicitBit - 1)) | (is_normal ? kImplicitBit : 0);
  const uint32_t low = static_cast<uint32_t>(magnitude) << shift;
  const int64_t high = static_cast<int64_t>(magnitude >> (kWindowWordBits - shift));
  const bool is_negative = static_cast<int64_t>(bits) < 0;
  if (!is_negative) return {low, high};
  return {0 - low, low == 0 ? -high : ~high};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SUMS_WEIGHT_WINDOW_H_
