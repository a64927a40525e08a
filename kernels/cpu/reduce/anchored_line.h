// Moments of a line of floating-point numbers from an anchor on, but for a bound.
//
// An anchor A is so much greater than all sums of a line's addends that what is added to it stays
// in its binade, whose unit is u. Then an addition rounds the addend to a multiple of u, and two
// subtractions tell what that cut off, u / 2 at most (Dekker 1971, "A floating-point technique for
// extending the available precision": Fast2Sum). The differences from A of all lanes add up
// exactly.
//
// What was cut off, and of squares what their products leave, below u / 2 too, is added in float64.
// With 2^7 rows those sums are below 2^7 u a lane, and each of 2^8 additions loses at most 2^-53 of
// that: in 2^3 lanes 2^-35 u. To join the lanes loses 2^-40 u.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_ANCHORED_LINE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_ANCHORED_LINE_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/line_magnitudes.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cpu {

// Of numbers below 2^top_exponent. Sums of either sign begin in the middle of a binade.
template <Moment kMoment>
inline double LineAnchor(int top_exponent) {
  constexpr int kDoubleBias = 1023;
  constexpr int kCountBits = std::bit_width(kLineChunk) - 1;
  const int exponent = kMoment == Moment::kSquares ? 2 * top_exponent : top_exponent;
  const double power =
      std::bit_cast<double>(static_cast<uint64_t>(kDoubleBias + exponent + kCountBits) << 52);
  return kMoment == Moment::kSum ? 3 * power : power;
}

// Sums of a moment by lanes, of at most kLineChunk elements of magnitudes that are AreOrdinary.
template <Moment kMoment, class S, uint32_t kLanes>
struct AnchoredLanes {
  double anchor;
  double high[kLanes];
  double low[kLanes] = {};

  explicit AnchoredLanes(const LineMagnitudes<S>& magnitudes)
      : anchor(LineAnchor<kMoment>(magnitudes.TopExponent())) {
    std::fill_n(high, kLanes, anchor);
  }

  void Add(uint32_t lane, double x) {
    const double addend = kMoment == Moment::kSquares      ? x * x
                          : kMoment == Moment::kMagnitudes ? std::fabs(x)
                                                           : x;
    const double next = high[lane] + addend;
    double rest = addend - (next - high[lane]);
    if constexpr (kMoment == Moment::kSquares && sizeof(S) == 8) {
      rest += __builtin_fma(x, x, -addend);
    }
    high[lane] = next;
    low[lane] += rest;
  }

  // What the sum of the lanes, or of any, differs from what they have by at most.
  double Error() const { return anchor * 0x1p-86; }
};

// The sum of a moment of a line whose magnitudes AreOrdinary.
template <Moment kMoment, class S>
inline CheckedPair SumOfAnchoredLine(const Line<S>& line, const LineMagnitudes<S>& magnitudes) {
  // Of float64 so few that they stay in registers.
  constexpr uint32_t kLanes = sizeof(S) == 8 ? 8 : 16;
  static_assert(kLinePart<S> % kLanes == 0 && kLineChunk / kLanes <= 1 << 7);
  AnchoredLanes<kMoment, S, kLanes> lanes(magnitudes);
  ForEachLinePart(line, NoElement<S>(), [&](const std::byte* data, uint32_t count) {
    for (uint32_t first = 0; first < count; first += kLanes) {
      if constexpr (sizeof(S) == 8) {
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          lanes.Add(lane, LoadUnaligned<S>(data, first + lane));
        }
      } else {
        // Elements that are converted are not made vectors of where the loop is unrolled.
#pragma GCC unroll 1
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          lanes.Add(lane, static_cast<double>(LoadUnaligned<S>(data, first + lane)));
        }
      }
    }
  });
  for (double& x : lanes.high) x -= lanes.anchor;
  for (uint32_t left = kLanes / 2; left > 0; left /= 2) {
    for (uint32_t lane = 0; lane < left; ++lane) {
      lanes.high[lane] += lanes.high[lane + left];
      lanes.low[lane] += lanes.low[lane + left];
    }
  }
  return {lanes.high[0], lanes.low[0], lanes.Error()};
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_ANCHORED_LINE_H_
