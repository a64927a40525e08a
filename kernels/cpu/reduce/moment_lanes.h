// Sums, sums of squares and sums of magnitudes of integers by lanes, to be merged into the parts of
// a ReductionState. Those of floating-point elements are in exact_lanes.h.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_MOMENT_LANES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_MOMENT_LANES_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/seen_bits.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cpu {

// Exact sums of base-2^32 digits. Every digit of an addend is below 2^34, so 2^29 rows
// cannot overflow.
template <std::integral S, Moment kMoment>
class MomentLanes<S, kMoment> {
 public:
  void Reset(uint32_t width) {
    for (auto& digit : digits_) std::fill_n(digit, width, 0);
    are_small_ = true;
  }

  void AddTile(const Tile<S>& tile, bool) {
    if constexpr (sizeof(S) <= 2) {
      alignas(kLanesAlignment) TileSum tile_sums[kLanesMax<S>];
      std::fill_n(tile_sums, tile.width, TileSum{0});
      ForEachElement(tile, [&](uint32_t lane, S x) {
        tile_sums[lane] = static_cast<TileSum>(tile_sums[lane] + SmallAddend(x));
      });
      for (uint32_t lane = 0; lane < tile.width; ++lane) {
        digits_[0][lane] += static_cast<uint64_t>(static_cast<int64_t>(tile_sums[lane]));
      }
    } else {
      if constexpr (sizeof(S) == 8) {
        are_small_ = are_small_ && AddSmall(tile);
        if (are_small_) return;
      }
      uint32_t first = 0;
      for (; first + kBlockLanes <= tile.width; first += kBlockLanes) AddBlock(tile, first);
      Tile<S> rest = tile;
      rest.data += first * sizeof(S);
      rest.width -= first;
      ForEachElement(rest, [&](uint32_t lane, S x) { AddDigits(digits_, first + lane, x); });
    }
  }

  void JoinLane(uint32_t into, uint32_t from) {
    for (auto& digit : digits_) digit[into] += digit[from];
  }

  template <class State>
  void MergeLane(uint32_t lane, State& state) const {
    State other;
    if constexpr (kMoment == Moment::kSquares && sizeof(S) == 8) {
      for (int d = 0; d < 3; ++d) other.sum.Add(Uint128{digits_[d][lane]} << (32 * d));
      other.sum.Merge({{0, digits_[3][lane] << 32, digits_[3][lane] >> 32}});
    } else {
      using Wide = decltype(other.sum);
      other.sum = SignedTop() ? static_cast<Wide>(static_cast<int64_t>(digits_[kDigits - 1][lane]))
                              : static_cast<Wide>(digits_[kDigits - 1][lane]);
      for (int d = kDigits - 2; d >= 0; --d)
        other.sum = other.sum * (Wide{1} << 32) + digits_[d][lane];
    }
    state.Merge(other);
  }

 private:
  static constexpr bool SignedTop() { return kMoment == Moment::kSum && std::is_signed_v<S>; }
  static constexpr int kDigits = kMoment == Moment::kSquares ? (sizeof(S) == 8   ? 4
                                                                : sizeof(S) == 4 ? 2
                                                                                 : 1)
                                                             : (sizeof(S) == 8 ? 2 : 1);

  // Wide enough for the addends of kTileRows<S> elements.
  using TileSum = std::conditional_t<
      kMoment == Moment::kSquares, std::conditional_t<sizeof(S) == 1, uint32_t, uint64_t>,
      std::conditional_t<SignedTop(), std::conditional_t<sizeof(S) == 1, int16_t, int32_t>,
                         std::conditional_t<sizeof(S) == 1, uint16_t, uint32_t>>>;
  static_assert(sizeof(S) > 1 || kTileRows<S> * 255 <= 65535);

  static TileSum SmallAddend(S x) {
    if constexpr (kMoment == Moment::kSum) return x;
    const int32_t value = x;
    if constexpr (kMoment == Moment::kMagnitudes)
      return static_cast<TileSum>(value < 0 ? -value : value);
    return static_cast<uint32_t>(value) * static_cast<uint32_t>(value);
  }

  // Adds a tile whose sums fit in 64 bits; returns whether they do, and adds nothing else.
  bool AddSmall(const Tile<S>& tile) {
    alignas(kLanesAlignment) uint64_t sums[kLanesMax<S>];
    std::fill_n(sums, tile.width, 0);
    uint64_t seen = 0;
    for (uint32_t r = 0; r < tile.rows; ++r) {
      const std::byte* const row = tile.data + r * tile.stride_bytes;
      for (uint32_t lane = 0; lane < tile.width; ++lane) {
        const S x = LoadUnaligned<S>(row, lane);
        seen |= SeenBits(x);
        sums[lane] += SmallWideAddend(x);
      }
    }
    if (seen >> kSmallBits != 0) return false;
    for (uint32_t lane = 0; lane < tile.width; ++lane) {
      digits_[0][lane] += sums[lane] & kLowDigit;
      digits_[1][lane] += SignedTop()
                              ? static_cast<uint64_t>(static_cast<int64_t>(sums[lane]) >> 32)
                              : sums[lane] >> 32;
    }
    return true;
  }

  // Magnitudes of so many bits whose moments of a tile are below 2^63.
  static constexpr int kSmallBits = kMoment == Moment::kSquares ? 29 : 58;
  static_assert(kTileRows<int64_t> <= 1 << 4);

  // What an integer of kSmallBits bits adds.
  static uint64_t SmallWideAddend(S x) {
    if constexpr (kMoment == Moment::kSum) return static_cast<uint64_t>(x);
    if constexpr (kMoment == Moment::kMagnitudes) return static_cast<uint64_t>(Magnitude(x));
    // Of 32 bits: their product is one instruction of vectors.
    const uint64_t magnitude = Magnitude(x) & kLowDigit;
    return magnitude * magnitude;
  }

  static constexpr uint64_t kLowDigit = 0xFFFF'FFFF;

  // Lanes whose digits stay near from row to row.
  static constexpr uint32_t kBlockLanes = 16;

  void AddBlock(const Tile<S>& tile, uint32_t first) {
    uint64_t digits[kDigits][kBlockLanes] = {};
    for (uint32_t r = 0; r < tile.rows; ++r) {
      const std::byte* const row = tile.data + r * tile.stride_bytes + first * sizeof(S);
      // What is unrolled is not made vectors of.
#pragma GCC unroll 1
      for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
        AddDigits(digits, lane, LoadUnaligned<S>(row, lane));
      }
    }
    for (int d = 0; d < kDigits; ++d) {
      for (uint32_t lane = 0; lane < kBlockLanes; ++lane)
        digits_[d][first + lane] += digits[d][lane];
    }
  }

  template <uint32_t kLanes>
  static void AddDigits(uint64_t (&digits)[kDigits][kLanes], uint32_t lane, S x) {
    if constexpr (kMoment != Moment::kSquares) {
      using Addend = std::conditional_t<SignedTop(), int64_t, uint64_t>;
      const Addend addend =
          kMoment == Moment::kSum ? static_cast<Addend>(x) : static_cast<Addend>(Magnitude(x));
      if constexpr (kDigits == 1) {
        digits[0][lane] += static_cast<uint64_t>(addend);
      } else {
        digits[0][lane] += static_cast<uint64_t>(addend) & kLowDigit;
        digits[1][lane] += static_cast<uint64_t>(addend >> 32);
      }
    } else if constexpr (sizeof(S) == 4) {
      const uint64_t magnitude = static_cast<uint32_t>(Magnitude(x));
      const uint64_t square = magnitude * magnitude;
      digits[0][lane] += square & kLowDigit;
      digits[1][lane] += square >> 32;
    } else {
      const uint64_t magnitude = Magnitude(x);
      const uint64_t low = magnitude & kLowDigit;
      const uint64_t high = magnitude >> 32;
      const uint64_t low_square = low * low;
      const uint64_t mixed = low * high;
      const uint64_t high_square = high * high;
      digits[0][lane] += low_square & kLowDigit;
      digits[1][lane] += (low_square >> 32) + 2 * (mixed & kLowDigit);
      digits[2][lane] += 2 * (mixed >> 32) + (high_square & kLowDigit);
      digits[3][lane] += high_square >> 32;
    }
  }

  bool are_small_;  // Whether all tiles so far were, of integers of 64 bits.
  alignas(kLanesAlignment) uint64_t digits_[kDigits][kLanesMax<S>];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_MOMENT_LANES_H_
