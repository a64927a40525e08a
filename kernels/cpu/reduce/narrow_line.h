// Moments of a line of floats whose magnitudes lie near to each other: sums in double precision of
// which nothing is lost.
//
// With E and e the exponents of the largest and the smallest magnitude, neither 0, elements are
// below 2^E and multiples of 2^(e - 24). Sums of up to 2^10 of them have E - e + 34 bits, which
// float64 has for E - e <= 19.
//
// Squares have 48 bits, which a float64 holds. They are added from an anchor A = 2^(2 E + 10) on,
// which is greater than their sum: an addition to it cuts off what is below A 2^-52, and two
// subtractions tell what that was (Dekker 1971, "A floating-point technique for extending the
// available precision": Fast2Sum). What was cut off is at most A 2^-53 and a multiple of
// 2^(2 e - 48), so 2^10 of these add up exactly too, for E - e <= 19.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_LINE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_LINE_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/cpu/reduce/tile_survey.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cpu {

// Where the magnitudes of a line lie, as the bits of floats.
struct LineMagnitudes {
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

  // Whether all are finite and near enough to each other.
  bool AreNarrow() const {
    constexpr uint32_t kExponentsMax = 19;
    if (largest == 0) return true;
    const uint32_t least = std::max<uint32_t>(1, (smallest_less_one + 1) >> kFractionBits);
    return largest < kInfinity && Exponent() <= least + kExponentsMax;
  }
  // The anchor from which on squares are added: A.
  double SquareAnchor() const {
    constexpr int kCountBits = std::bit_width(kLineChunk) - 1;
    return std::bit_cast<double>(
        static_cast<uint64_t>(kDoubleBias + 2 * (static_cast<int>(Exponent()) - 126) + kCountBits)
        << 52);
  }

 private:
  static constexpr int kFractionBits = 23;
  static constexpr int kDoubleBias = 1023;
  static constexpr uint32_t kInfinity = static_cast<uint32_t>(kInfinityBits<float>);

  uint32_t Exponent() const { return largest >> kFractionBits; }
};

// The sum of a moment of a line whose magnitudes AreNarrow.
template <Moment kMoment>
inline CheckedPair SumOfNarrowLine(const Line<float>& line, const LineMagnitudes& magnitudes) {
  constexpr uint32_t kLanes = 16;
  static_assert(kLinePart<float> % kLanes == 0);
  constexpr bool kSquares = kMoment == Moment::kSquares;
  const double anchor = kSquares ? magnitudes.SquareAnchor() : CheckedPair{}.high;
  alignas(64) double high[kLanes];
  alignas(64) double low[kLanes] = {};
  std::fill_n(high, kLanes, anchor);
  ForEachLinePart(line, -0.0f, [&](const std::byte* data, uint32_t count) {
    for (uint32_t first = 0; first < count; first += kLanes) {
      // What is unrolled is not made vectors of.
#pragma GCC unroll 1
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const double x = static_cast<double>(LoadUnaligned<float>(data, first + lane));
        if constexpr (kSquares) {
          const double square = x * x;
          const double next = high[lane] + square;
          low[lane] += square - (next - high[lane]);
          high[lane] = next;
        } else {
          high[lane] += kMoment == Moment::kMagnitudes ? std::fabs(x) : x;
        }
      }
    }
  });
  CheckedPair sum;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    sum.high += kSquares ? high[lane] - anchor : high[lane];
    sum.low += low[lane];
  }
  return sum;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_LINE_H_
