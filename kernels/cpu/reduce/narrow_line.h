// Moments of a line of floats whose magnitudes lie near to each other: sums in double precision of
// which nothing is lost.
//
// With E and e the exponents of the largest and the smallest magnitude, neither 0, elements are
// below 2^E and multiples of 2^(e - 24). Sums of up to 2^10 of them have E - e + 34 bits, which
// float64 has for E - e <= 19.
//
// Squares have 48 bits, which a float64 holds. They are added from an anchor A = 2^(2 E + 10) on
// (anchored_line.h). What that cuts off is at most A 2^-53 and a multiple of 2^(2 e - 48), so 2^10
// of these add up exactly too, for E - e <= 19.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_LINE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_LINE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/reduce/anchored_line.h"
#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/line_magnitudes.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cpu {

// The sum of a moment of a line whose magnitudes AreNarrow.
template <Moment kMoment>
inline CheckedPair SumOfNarrowLine(const Line<float>& line,
                                   const LineMagnitudes<float>& magnitudes) {
  if constexpr (kMoment == Moment::kSquares) {
    if (!magnitudes.AreOrdinary()) return {0, 0, 0};  // All are 0.
    CheckedPair sum = SumOfAnchoredLine<kMoment>(line, magnitudes);
    sum.lost = 0;
    return sum;
  }
  constexpr uint32_t kLanes = 16;
  static_assert(kLinePart<float> % kLanes == 0);
  alignas(kLanesAlignment) double lanes[kLanes];
  std::fill_n(lanes, kLanes, CheckedPair{}.high);
  ForEachLinePart(line, NoElement<float>(), [&](const std::byte* data, uint32_t count) {
    for (uint32_t first = 0; first < count; first += kLanes) {
      // What is unrolled is not made vectors of.
#pragma GCC unroll 1
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const double x = static_cast<double>(LoadUnaligned<float>(data, first + lane));
        lanes[lane] += kMoment == Moment::kMagnitudes ? std::fabs(x) : x;
      }
    }
  });
  for (uint32_t left = kLanes / 2; left > 0; left /= 2) {
    for (uint32_t lane = 0; lane < left; ++lane) lanes[lane] += lanes[lane + left];
  }
  return {lanes[0], 0, 0};
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_LINE_H_
