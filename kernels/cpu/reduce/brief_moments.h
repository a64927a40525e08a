// Sums, sums of magnitudes and of squares of groups of few elements, a lane for each group: without
// the long integers that they would need in general, where it is certain that they need none.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_MOMENTS_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_MOMENTS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/line_magnitudes.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/narrow_block.h"
#include "kernels/cpu/reduce/seen_bits.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/pair_moments.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cpu {

// Groups that are reduced together.
inline constexpr uint32_t kBriefLanes = 256;
// Elements of groups side by side, at most: counts of them fit in a byte.
inline constexpr uint32_t kBriefRows = 255;
// Elements of a group at most.
inline constexpr uint32_t kBriefElements = 65535;

// The bits of counts of elements.
inline constexpr int kBriefCountBits = 16;
static_assert(kBriefElements < 1 << kBriefCountBits);

// Calls f<lanes>(first) for blocks of lanes that make up [0, width): their accumulators, whose
// number the compiler knows, stay in registers from row to row.
template <class F>
inline void ForEachLaneBlock(uint32_t width, F f) {
  uint32_t first = 0;
  for (; first + kBlockLanes <= width; first += kBlockLanes) {
    f.template operator()<kBlockLanes>(first);
  }
  for (; first < width; ++first) f.template operator()<1>(first);
}

// What an integer adds to a moment, modulo what Word holds, in which negative numbers are what they
// are in two's complement.
template <class Word, Moment kMoment, std::integral S>
inline Word BriefAddend(S x) {
  if constexpr (kMoment == Moment::kMagnitudes) {
    return static_cast<Word>(static_cast<Word>(SeenBits(x)) + (IsNegative(x) ? 1 : 0));
  } else if constexpr (kMoment == Moment::kSum || sizeof(S) == 8) {
    const Word wide = static_cast<Word>(static_cast<int64_t>(x));
    return kMoment == Moment::kSquares ? wide * wide : wide;
  } else {
    // Of 32 bits: their product is one instruction of vectors.
    using Wide = std::conditional_t<std::is_signed_v<S>, int64_t, uint64_t>;
    using Narrow = std::conditional_t<std::is_signed_v<S>, int32_t, uint32_t>;
    if constexpr (sizeof(S) == 4 || sizeof(Word) == 8) {
      return static_cast<Word>(Wide{static_cast<Narrow>(x)} * Wide{static_cast<Narrow>(x)});
    } else {
      return static_cast<Word>(Narrow{x} * Narrow{x});
    }
  }
}

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

  // Adds a block of kLanes columns, the first of which goes to lane `first`.
  template <Moment kMoment, uint32_t kLanes>
  void AddBlock(const Tile<S>& tile, uint32_t first) {
    Block<kMoment, kLanes> block;
    for (uint32_t lane = 0; lane < kLanes; ++lane) block.Set(lane, Pair(first + lane));
    for (uint32_t r = 0; r < tile.rows; ++r) block.AddRow(tile.data + r * tile.stride_bytes);
    for (uint32_t lane = 0; lane < kLanes; ++lane) Set(first + lane, block.Pair(lane));
  }

  // The same of kBlockLanes columns that HasNarrowBlockSums; where `are_first`, they are all that
  // the lanes have so far.
  template <Moment kMoment>
  void AddNarrowBlock(const Tile<S>& tile, const LineMagnitudes<S>& magnitudes, uint32_t first,
                      bool are_first) {
    const NarrowBlockSums<kMoment, S> sums(tile, magnitudes);
    if (are_first) {
      std::copy_n(sums.high, kBlockLanes, high_ + first);
      std::copy_n(sums.low, kBlockLanes, low_ + first);
      std::fill_n(lost_ + first, kBlockLanes, sums.lost);
      return;
    }
    for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
      AddSum(first + lane, {sums.high[lane], sums.low[lane], sums.lost});
    }
  }

  // Adds elements of one lane's group.
  template <Moment kMoment>
  void AddLine(const Line<S>& line, uint32_t lane) {
    static_assert(kLinePart<S> % kBlockLanes == 0);
    Block<kMoment, kBlockLanes> block;
    for (uint32_t l = 0; l < kBlockLanes; ++l) block.Set(l, CheckedPair{});
    ForEachLinePart(line, NoElement<S>(), [&](const std::byte* data, uint32_t count) {
      // Converted beforehand: compilers make no vectors of a row that is converted as it is added.
      alignas(kLanesAlignment) double numbers[kLineChunk];
      for (uint32_t i = 0; i < count; ++i) {
        numbers[i] = static_cast<double>(LoadUnaligned<S>(data, i));
      }
      for (uint32_t i = 0; i < count; i += kBlockLanes) block.AddNumbers(numbers + i);
    });
    for (uint32_t left = kBlockLanes / 2; left > 0; left /= 2) block.Fold(left);
    AddSum(lane, block.Pair(0));
  }

  void AddSum(uint32_t lane, const CheckedPair& addend) {
    CheckedPair sum = Pair(lane);
    sum.Merge(addend);
    Set(lane, sum);
  }

  CheckedPair Pair(uint32_t lane) const { return {high_[lane], low_[lane], lost_[lane]}; }
  BoundedNumber Sum(uint32_t lane) const { return BoundedSum(Pair(lane)); }

 private:
  void Set(uint32_t lane, const CheckedPair& sum) {
    high_[lane] = sum.high;
    low_[lane] = sum.low;
    lost_[lane] = sum.lost;
  }

  // Lanes that stay in registers.
  template <Moment kMoment, uint32_t kLanes>
  struct Block {
    double high[kLanes];
    double low[kLanes];
    double lost[kLanes];

    CheckedPair Pair(uint32_t lane) const { return {high[lane], low[lane], lost[lane]}; }
    void Set(uint32_t lane, const CheckedPair& sum) {
      high[lane] = sum.high;
      low[lane] = sum.low;
      lost[lane] = sum.lost;
    }

    void AddRow(const std::byte* row) {
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        Add(lane, static_cast<double>(LoadUnaligned<S>(row, lane)));
      }
    }
    void AddNumbers(const double* numbers) {
      for (uint32_t lane = 0; lane < kLanes; ++lane) Add(lane, numbers[lane]);
    }
    // Merges `count` lanes into the first ones.
    void Fold(uint32_t count) {
      for (uint32_t lane = 0; lane < count; ++lane) {
        CheckedPair sum = Pair(lane);
        sum.Merge(Pair(lane + count));
        Set(lane, sum);
      }
    }

   private:
    // Adds what an element of S is.
    void Add(uint32_t lane, double x) {
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
          // As bits, since a choice would be a branch.
          const uint64_t is_small = (square < BoundedNumber::kLeast) & (x != 0) ? 1 : 0;
          sum.lost += std::bit_cast<double>(is_small);
        }
      }
      Set(lane, sum);
    }
  };

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
    ForEachElement(tile, [this](uint32_t lane, S x) {
      sum_[lane] += BriefAddend<uint64_t, kMoment>(x);
      if constexpr (!kAlwaysFits<kMoment>) seen_[lane] |= SeenBits(x);
    });
  }

  // Adds elements of one lane's group.
  template <Moment kMoment>
  void AddLine(const Line<S>& line, uint32_t lane) {
    ForEachLinePart(line, S{0}, [&](const std::byte* data, uint32_t count) {
      LineWord<kMoment> sum = 0;
      std::make_unsigned_t<S> seen = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const S x = LoadUnaligned<S>(data, i);
        sum += BriefAddend<LineWord<kMoment>, kMoment>(x);
        if constexpr (!kAlwaysFits<kMoment>) seen |= SeenBits(x);
      }
      sum_[lane] += Widened(sum);
      seen_[lane] |= seen;
    });
  }

  int64_t Sum(uint32_t lane) const { return static_cast<int64_t>(sum_[lane]); }

  // The bits that any of the magnitudes of the first `width` sums has, one less where negative.
  uint64_t SumBits(uint32_t width) const {
    uint64_t bits = 0;
    for (uint32_t lane = 0; lane < width; ++lane) bits |= sum_[lane] ^ SignBits(sum_[lane]);
    return bits;
  }

  // Whether Sum is the sum of this moment, not wrapped around, of elements whose count has
  // `count_bits` bits, at most kBriefCountBits.
  template <Moment kMoment>
  bool Fits(uint32_t lane, int count_bits) const {
    return kAlwaysFits<kMoment> || seen_[lane] >> FittingBits<kMoment>(count_bits) == 0;
  }
  // The same of all the first `width` lanes.
  template <Moment kMoment>
  bool AllFit(uint32_t width, int count_bits) const {
    if constexpr (kAlwaysFits<kMoment>) return true;
    uint64_t seen = 0;
    for (uint32_t lane = 0; lane < width; ++lane) seen |= seen_[lane];
    return seen >> FittingBits<kMoment>(count_bits) == 0;
  }

 private:
  // What is wide enough for the addends of a line.
  template <Moment kMoment>
  using LineWord =
      std::conditional_t<sizeof(S) == 1 || (sizeof(S) == 2 && kMoment != Moment::kSquares),
                         uint32_t, uint64_t>;
  static_assert(kLineChunk <= 1 << 14);

  static uint64_t Widened(uint64_t word) { return word; }
  static uint64_t Widened(uint32_t word) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(word)));
  }
  static uint64_t SignBits(uint64_t x) {
    return static_cast<uint64_t>(static_cast<int64_t>(x) >> 63);
  }

  // The bits of magnitudes, one less where negative, whose moments add up to less than 2^63.
  template <Moment kMoment>
  static constexpr int FittingBits(int count_bits) {
    return (63 - count_bits) / (kMoment == Moment::kSquares ? 2 : 1) - 1;
  }
  template <Moment kMoment>
  static constexpr bool kAlwaysFits = 8 * sizeof(S) <= FittingBits<kMoment>(kBriefCountBits);

  alignas(kLanesAlignment) uint64_t sum_[kBriefLanes];
  alignas(kLanesAlignment) uint64_t seen_[kBriefLanes];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_MOMENTS_H_
