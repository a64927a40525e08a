// Where the magnitudes of a line of floating-point numbers lie, which says how its sums can be
// made: exactly (narrow_line.h, narrow_block.h), or but for a bound (anchored_line.h).
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_LINE_MAGNITUDES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_LINE_MAGNITUDES_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/tile_survey.h"

namespace gridfold::kernels::cpu {

template <class S>
struct LineMagnitudes;

// Where they lie as the bits of floats.
template <>
struct LineMagnitudes<float> {
  uint32_t largest = 0;
  uint32_t smallest_less_one = std::numeric_limits<uint32_t>::max();  // Of those that are not 0.

  static LineMagnitudes Of(const Line<float>& line) {
    LineMagnitudes magnitudes;
    ForEachLinePart(line, 0.0f, [&](const std::byte* data, uint32_t count) {
      uint32_t largest = magnitudes.largest;
      uint32_t smallest_less_one = magnitudes.smallest_less_one;
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t magnitude = LoadUnaligned<uint32_t>(data, i) & 0x7FFF'FFFFu;
        largest = std::max(largest, magnitude);
        smallest_less_one = std::min(smallest_less_one, magnitude - 1);
      }
      magnitudes = {largest, smallest_less_one};
    });
    return magnitudes;
  }

  // Whether all are finite and so near to each other that narrow_line.h has their sums.
  bool AreNarrow() const {
    constexpr uint32_t kExponentsMax = 19;
    if (largest == 0) return true;
    const uint32_t least = std::max<uint32_t>(1, (smallest_less_one + 1) >> kFractionBits);
    return largest < kInfinity && (largest >> kFractionBits) <= least + kExponentsMax;
  }
  // Whether some are not 0, and all finite, as anchored_line.h needs them.
  bool AreOrdinary() const { return largest != 0 && largest < kInfinity; }
  // The power of two above all of them: 2^TopExponent().
  int TopExponent() const { return static_cast<int>(largest >> kFractionBits) - 126; }

 private:
  static constexpr int kFractionBits = 23;
  static constexpr uint32_t kInfinity = static_cast<uint32_t>(kInfinityBits<float>);
};

// Where they lie as the bits of float64 numbers.
template <>
struct LineMagnitudes<double> {
  int64_t largest = 0;
  int64_t smallest = 0;  // Of those that are not 0; 0 where nobody has looked.

  static LineMagnitudes Of(const Line<double>& line) {
    LineMagnitudes magnitudes;
    ForEachLinePart(line, 0.0, [&](const std::byte* data, uint32_t count) {
      int64_t largest = magnitudes.largest;
      for (uint32_t i = 0; i < count; ++i) {
        largest = std::max(largest, MagnitudeBitsOf(LoadUnaligned<double>(data, i)));
      }
      magnitudes.largest = largest;
    });
    return magnitudes;
  }

  // Whether the largest has a square, and that many bits below it, far from the ends of float64.
  bool AreOrdinary() const {
    constexpr int kExponentMax = 400;
    return largest != 0 && TopExponent() >= -kExponentMax && TopExponent() <= kExponentMax;
  }
  // Whether they are ordinary, and so near to each other that narrow_block.h has their sums.
  bool AreNarrow() const {
    constexpr int64_t kExponentsMax = 34;
    return AreOrdinary() &&
           (largest >> kFractionBits) - (smallest >> kFractionBits) <= kExponentsMax;
  }
  // The power of two above all of them: 2^TopExponent().
  int TopExponent() const { return static_cast<int>(largest >> kFractionBits) - 1022; }

 private:
  static constexpr int kFractionBits = 52;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_LINE_MAGNITUDES_H_
