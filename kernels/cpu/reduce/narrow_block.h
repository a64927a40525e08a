// Moments of some columns next to each other, each of which is a group, where the magnitudes of all
// their elements lie near to each other: in fewer steps than pairs take (pair_sum.h).
//
// Sums of floats are those of narrow_line.h. Sums of float64 are added from an anchor on
// (anchored_line.h), and nothing is lost: with E and e the exponents of the largest and the
// smallest magnitude, elements are multiples of 2^(e - 53), and an anchor's unit is 2^(E - 41) at
// most. What the additions of 2^8 rows cut off comes to less than 2^(E - 34) and is a multiple of
// 2^(e - 53), which a float64 holds for E - e <= 34.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_BLOCK_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_BLOCK_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/cpu/reduce/anchored_line.h"
#include "kernels/cpu/reduce/line_magnitudes.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cpu {

// The columns of a block, whose accumulators stay in registers from row to row.
inline constexpr uint32_t kBlockLanes = 8;
// Its rows at most: sums of them must be exact.
inline constexpr uint32_t kBlockRows = 1 << 8;
static_assert(kBlockRows <= kLineChunk);

// Calls f(lane, element) for each lane of each row of a block: a tile of kBlockLanes.
template <class S, class F>
inline void ForEachOfBlock(const Tile<S>& block, F f) {
  for (uint32_t r = 0; r < block.rows; ++r) {
    const std::byte* const row = block.data + r * block.stride_bytes;
    // What is unrolled is not made vectors of.
#pragma GCC unroll 1
    for (uint32_t lane = 0; lane < kBlockLanes; ++lane) f(lane, LoadUnaligned<S>(row, lane));
  }
}

inline LineMagnitudes<float> MagnitudesOf(const Tile<float>& block) {
  uint32_t largest[kBlockLanes] = {};
  uint32_t smallest_less_one[kBlockLanes];
  std::fill_n(smallest_less_one, kBlockLanes, std::numeric_limits<uint32_t>::max());
  ForEachOfBlock(block, [&](uint32_t lane, float x) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(x) & 0x7FFF'FFFFu;
    largest[lane] = std::max(largest[lane], magnitude);
    smallest_less_one[lane] = std::min(smallest_less_one[lane], magnitude - 1);
  });
  return {*std::max_element(largest, largest + kBlockLanes),
          *std::min_element(smallest_less_one, smallest_less_one + kBlockLanes)};
}

// By comparisons of float64, since not all instruction sets compare vectors of their bits, and in
// vectors that compilers do not make of such a loop. NaNs are passed over; sums have them.
inline LineMagnitudes<double> MagnitudesOf(const Tile<double>& block) {
  constexpr uint32_t kVectorLanes = 4;
  constexpr uint32_t kVectors = kBlockLanes / kVectorLanes;
  using Doubles [[gnu::vector_size(kVectorLanes * sizeof(double))]] = double;
  using Bits [[gnu::vector_size(kVectorLanes * sizeof(double))]] = int64_t;
  constexpr Doubles kInfinities = Doubles{} + std::numeric_limits<double>::infinity();
  Doubles largest[kVectors] = {};
  Doubles smallest[kVectors];
  std::fill_n(smallest, kVectors, kInfinities);
  for (uint32_t r = 0; r < block.rows; ++r) {
    const std::byte* const row = block.data + r * block.stride_bytes;
    for (uint32_t v = 0; v < kVectors; ++v) {
      Bits bits;
      std::memcpy(&bits, row + v * sizeof(bits), sizeof(bits));
      const Doubles magnitudes =
          reinterpret_cast<Doubles>(bits & std::numeric_limits<int64_t>::max());
      const Doubles not_zero = magnitudes == 0 ? kInfinities : magnitudes;
      largest[v] = magnitudes > largest[v] ? magnitudes : largest[v];
      smallest[v] = not_zero < smallest[v] ? not_zero : smallest[v];
    }
  }
  LineMagnitudes<double> all{0, kInfinityBits<double>};
  for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
    const uint32_t v = lane / kVectorLanes;
    all.largest = std::max(all.largest, std::bit_cast<int64_t>(largest[v][lane % kVectorLanes]));
    all.smallest = std::min(all.smallest, std::bit_cast<int64_t>(smallest[v][lane % kVectorLanes]));
  }
  return all;
}

// Whether NarrowBlockSums has the sums of elements of such magnitudes.
template <class S>
inline bool HasNarrowBlockSums(const LineMagnitudes<S>& magnitudes) {
  return magnitudes.AreOrdinary() && magnitudes.AreNarrow();
}

// Of a lane of a block whose sum is 0, whether all elements are -0.0.
template <class S>
inline bool AreNegativeZeros(const Tile<S>& block, uint32_t lane) {
  for (uint32_t r = 0; r < block.rows; ++r) {
    if (!std::signbit(LoadUnaligned<S>(block.data + r * block.stride_bytes, lane))) return false;
  }
  return true;
}

// The sum of a moment of each lane of a block, of kBlockRows at most.
template <Moment kMoment, class S>
struct NarrowBlockSums {
  double high[kBlockLanes];
  double low[kBlockLanes];
  double lost;  // Of each.

  // Requires HasNarrowBlockSums(magnitudes).
  NarrowBlockSums(const Tile<S>& block, const LineMagnitudes<S>& magnitudes) {
    if constexpr (std::same_as<S, float> && kMoment != Moment::kSquares) {
      AddPlainly(block);
    } else {
      AddFromAnchor(block, magnitudes);
    }
  }

 private:
  void AddPlainly(const Tile<S>& block) {
    double sums[kBlockLanes];
    std::fill_n(sums, kBlockLanes, CheckedPair{}.high);
    ForEachOfBlock(block, [&](uint32_t lane, S x) {
      const double number = static_cast<double>(x);
      sums[lane] += kMoment == Moment::kMagnitudes ? std::fabs(number) : number;
    });
    std::copy_n(sums, kBlockLanes, high);
    std::fill_n(low, kBlockLanes, 0);
    lost = 0;
  }

  void AddFromAnchor(const Tile<S>& block, const LineMagnitudes<S>& magnitudes) {
    AnchoredLanes<kMoment, S, kBlockLanes> lanes(magnitudes);
    ForEachOfBlock(block, [&](uint32_t lane, S x) { lanes.Add(lane, static_cast<double>(x)); });
    for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
      high[lane] = lanes.high[lane] - lanes.anchor;
      low[lane] = lanes.low[lane];
    }
    // Squares of float64 have more bits than the two sums.
    constexpr bool kIsExact = std::same_as<S, float> || kMoment != Moment::kSquares;
    lost = kIsExact ? 0 : lanes.Error();
    if constexpr (kMoment == Moment::kSum) SetSignsOfZeros(block);
  }

  void SetSignsOfZeros(const Tile<S>& block) {
    if (std::find(high, high + kBlockLanes, 0) == high + kBlockLanes) return;
    for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
      if (high[lane] == 0 && AreNegativeZeros(block, lane)) high[lane] = -0.0;
    }
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_NARROW_BLOCK_H_
