// Sums, sums of magnitudes and of squares of groups of few elements, a lane for each group: without
// the long integers that they would need in general, where it is certain that they need none.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_MOMENTS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_MOMENTS_H_

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/pair_moments.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cpu {

// Groups side by side, and elements of each, at most: counts of them fit in a byte.
inline constexpr uint32_t kBriefLanes = 256;
inline constexpr uint32_t kBriefRows = 255;

template <class S>
class BriefMoments;

// Moments of floating-point numbers are pairs that know what they lost.
template <std::floating_point S>
class BriefMoments<S> {
 public:
  void Reset(uint32_t width) {
    constexpr CheckedPair kNothing{};
    std::fill_n(high_, width, kNothing.high);
    std::fill_n(low_, width, kNothing.low);
    std::fill_n(lost_, width, kNothing.lost);
  }

  template <Moment kMoment>
  void AddTile(const Tile<S>& tile) {
    ForEachElement(tile, [this](uint32_t lane, S element) {
      const double x = static_cast<double>(element);
      CheckedPair sum = Pair(lane);
      if constexpr (kMoment == Moment::kSum) {
        sum.Add(x);
      } else if constexpr (kMoment == Moment::kMagnitudes) {
        sum.Add(std::fabs(x));
      } else {
        const double square = x * x;
        sum.Add(square);
        if constexpr (sizeof(S) == 8) {
          sum.AddLow(__builtin_fma(x, x, -square));
          // The smallest squares have no room for their lower halves.
          sum.lost += (square < BoundedNumber::kLeast) & (x != 0) ? 0x1p-1074 : 0.0;
        }
      }
      high_[lane] = sum.high;
      low_[lane] = sum.low;
      lost_[lane] = sum.lost;
    });
  }

  CheckedPair Pair(uint32_t lane) const { return {high_[lane], low_[lane], lost_[lane]}; }
  BoundedNumber Sum(uint32_t lane) const { return BoundedSum(Pair(lane)); }

 private:
  alignas(kLanesAlignment) double high_[kBriefLanes];
  alignas(kLanesAlignment) double low_[kBriefLanes];
  alignas(kLanesAlignment) double lost_[kBriefLanes];
};

// Moments of integers are 64 bits wide, where the magnitudes seen are certain to leave room.
template <std::integral S>
class BriefMoments<S> {
 public:
  void Reset(uint32_t width) {
    std::fill_n(sum_, width, 0);
    std::fill_n(seen_, width, 0);
  }

  template <Moment kMoment>
  void AddTile(const Tile<S>& tile) {
    ForEachElement(tile, [this](uint32_t lane, S element) {
      // Modulo 2^64, in which negative numbers are what they are in two's complement.
      const uint64_t x = static_cast<uint64_t>(static_cast<int64_t>(element));
      const uint64_t sign = IsNegative(element) ? ~uint64_t{0} : 0;
      if constexpr (kMoment == Moment::kSum) {
        sum_[lane] += x;
      } else if constexpr (kMoment == Moment::kMagnitudes) {
        sum_[lane] += (x ^ sign) - sign;
      } else {
        sum_[lane] += x * x;
      }
      if constexpr (!kAlwaysFits<kMoment>) seen_[lane] |= x ^ sign;
    });
  }

  int64_t Sum(uint32_t lane) const { return static_cast<int64_t>(sum_[lane]); }

  // Whether Sum is the sum of this moment, not wrapped around.
  template <Moment kMoment>
  bool Fits(uint32_t lane) const {
    return kAlwaysFits<kMoment> || seen_[lane] >> kFittingBits<kMoment> == 0;
  }

 private:
  static constexpr int kRowBits = 8;
  static_assert(kBriefRows < 1 << kRowBits);
  // The bits of magnitudes, one less where negative, whose moments add up to less than 2^63.
  template <Moment kMoment>
  static constexpr int kFittingBits = (63 - kRowBits) / (kMoment == Moment::kSquares ? 2 : 1) - 1;
  template <Moment kMoment>
  static constexpr bool kAlwaysFits = 8 * sizeof(S) <= kFittingBits<kMoment>;

  alignas(kLanesAlignment) uint64_t sum_[kBriefLanes];
  alignas(kLanesAlignment) uint64_t seen_[kBriefLanes];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_MOMENTS_H_
