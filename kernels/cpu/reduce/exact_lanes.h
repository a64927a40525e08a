// Exact sums of floating-point elements, of their squares and of their magnitudes, by lanes.
//
// Elements are added in float64 arithmetic, cut into as many slices as the exponents of a tile need
// (slice_window.h): one or two for numbers of similar size. The slices are emptied into the exact
// sums of the states when they are full or must lie elsewhere. What float64 or the slices cannot
// hold goes to the exact sums element by element. None of that changes a bit of the sums.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_EXACT_LANES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_EXACT_LANES_H_

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/cpu/reduce/addend.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/slice_window.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/cpu/reduce/tile_survey.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cpu {

// Lane l belongs to column l % columns. `sum_of(column)` gives the exact sum that a column's
// elements go to, at any time from AddTile on. Not initialised by its constructor: Reset first.
template <std::floating_point S, Moment kMoment>
class MomentLanes<S, kMoment> {
 public:
  void Reset(uint32_t width) {
    width_ = width;
    window_.Reset(A::kUnitMin);
    begun_ = 0;
    std::fill_n(flags_, width, 0);
    all_flagged_ = false;
    is_nan_ = false;
    has_digits_ = false;
  }

  template <class SumOf>
  void AddTile(const Tile<S>& tile, const TileSurvey<S>& survey, bool ignore_nan, uint32_t columns,
               SumOf sum_of) {
    if (!all_flagged_ || !survey.all_finite) AddFlags(tile, ignore_nan, columns);
    if (is_nan_ || !survey.has_numbers()) return;
    const AddendRange range =
        A::RangeOf(std::clamp(survey.smallest, A::kSmallest, A::kLargest),
                   std::clamp(survey.largest, A::kSmallest, A::kLargest), tile.trailing_zeros);
    const uint64_t count = uint64_t{tile.rows} * A::kPerElement;
    if (!window_.Takes(range, count)) {
      EmptySlices(columns, sum_of);
      window_.Place(range);
    }
    window_.Count(range, count);
    const int first = window_.FirstSliceFor(range);
    const int last = window_.LastSliceFor(range);
    BeginSlices(first, last);

    const Bits smallest =
        std::max(A::SmallestWithUnit(window_.UnitOf(last), tile.trailing_zeros), A::kSmallest);
    const bool all_fit = survey.smallest >= smallest && survey.largest <= A::kLargest;
    AddWhatFits(tile, all_fit && survey.all_finite, smallest, first, last);
    if (!all_fit) AddTheRest(tile, smallest, columns, sum_of);
  }

  // Whether there is only one column, and its sum is NaN whatever is added to it.
  bool is_nan() const { return is_nan_; }

  // Brings all that was added to the sums.
  template <class SumOf>
  void MergeInto(uint32_t columns, SumOf sum_of) {
    EmptySlices(columns, sum_of);
    if (has_digits_) sum_of(0).AddDigits([&](int digit) { return digits_[digit]; });
    FoldLanes(width_, columns, [&](uint32_t into, uint32_t from) { flags_[into] |= flags_[from]; });
    for (uint32_t column = 0; column < columns; ++column) {
      sum_of(column).AddFlags(static_cast<uint32_t>(flags_[column]));
    }
  }

 private:
  using A = Addend<S, kMoment>;
  using Bits = MagnitudeBits<S>;
  static constexpr int kSlices = SliceWindow::kSlices;
  static_assert(kTileRows<S> * A::kPerElement <= SliceWindow::kBatchMax);

  // Takes note of what is not finite, and of what is not -0.0.
  void AddFlags(const Tile<S>& tile, bool ignore_nan, uint32_t columns) {
    ForEachElement(tile, [&](uint32_t lane, S x) {
      flags_[lane] |= ignore_nan & IsNan(x) ? Bits{0} : static_cast<Bits>(A::FlagsOf(x));
    });
    Bits common = kSawOtherThanNegativeZero;
    Bits any = 0;
    for (uint32_t lane = 0; lane < width_; ++lane) {
      common &= flags_[lane];
      any |= flags_[lane];
    }
    all_flagged_ = common != 0;
    is_nan_ = columns == 1 && (any & kSawNan) == kSawNan;
  }

  // Starts the sums of those slices that have not begun.
  void BeginSlices(int first, int last) {
    for (int slice = first; slice <= last; ++slice) {
      if ((begun_ >> slice & 1) != 0) continue;
      begun_ |= 1u << slice;
      std::fill_n(slices_[slice], width_, SliceWindow::Anchor(window_.UnitOf(slice)));
    }
  }

  // `rest` to a lane of kCount slices, the first of them at `slice`.
  template <int kCount, uint32_t kStride>
  static void AddSlices(double* slice, double rest) {
    if constexpr (kCount == 1) {
      *slice += rest;
    } else {
      const double before = *slice;
      const double after = before + rest;
      *slice = after;
      AddSlices<kCount - 1, kStride>(slice + kStride, rest - (after - before));
    }
  }

  template <int kCount>
  static void AddRow(const Tile<S>& row, double* slices) {
    ForEachElement(row, [=](uint32_t lane, S x) {
      A::ForEachOf(x,
                   [=](double addend) { AddSlices<kCount, kLanesMax<S>>(slices + lane, addend); });
    });
  }

  // Lanes whose sums stay in registers from row to row: storing them is what takes the time.
  static constexpr uint32_t kBlockLanes = 16;
  static_assert(kContiguousLanes % kBlockLanes == 0);

  template <int kCount>
  static void AddBlock(const Tile<S>& block, double* slices) {
    double sums[kCount * kBlockLanes];
    for (int i = 0; i < kCount; ++i) {
      std::copy_n(slices + i * kLanesMax<S>, kBlockLanes, sums + i * kBlockLanes);
    }
    for (uint32_t r = 0; r < block.rows; ++r) {
      const std::byte* const row = block.data + r * block.stride_bytes;
      for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
        A::ForEachOf(LoadUnaligned<S>(row, lane),
                     [&](double addend) { AddSlices<kCount, kBlockLanes>(sums + lane, addend); });
      }
    }
    for (int i = 0; i < kCount; ++i) {
      std::copy_n(sums + i * kBlockLanes, kBlockLanes, slices + i * kLanesMax<S>);
    }
  }

  template <int kCount>
  void AddToSlicesFrom(const Tile<S>& tile, int first) {
    double* const slices = slices_[first];
    if (tile.width != kContiguousLanes) {
      for (uint32_t r = 0; r < tile.rows; ++r) {
        PrefetchRowOfNext(tile, r);
        AddRow<kCount>(RowOf(tile, r), slices);
      }
      return;
    }
    for (uint32_t lane = 0; lane < kContiguousLanes; lane += kBlockLanes) {
      Tile<S> block = tile;
      block.data += lane * sizeof(S);
      AddBlock<kCount>(block, slices + lane);
    }
  }

  void AddToSlices(const Tile<S>& tile, int first, int last) {
    static_assert(kSlices == 7);
    switch (last - first) {
      case 0: return AddToSlicesFrom<1>(tile, first);
      case 1: return AddToSlicesFrom<2>(tile, first);
      case 2: return AddToSlicesFrom<3>(tile, first);
      case 3: return AddToSlicesFrom<4>(tile, first);
      case 4: return AddToSlicesFrom<5>(tile, first);
      case 5: return AddToSlicesFrom<6>(tile, first);
      default: return AddToSlicesFrom<7>(tile, first);
    }
  }

  // Whether the slices take x, or it is 0.
  static bool Fits(S x, Bits smallest) {
    const Bits magnitude = MagnitudeBitsOf(x);
    return (magnitude >= smallest) & (magnitude <= A::kLargest);
  }

  // Rows of a tile with 0 in the place of what does not fit, in the memory of `kept`.
  static constexpr uint32_t kKeptMax = 4 * kLanesMax<S>;
  static Tile<S> Kept(const Tile<S>& rows, Bits smallest, S* kept) {
    for (uint32_t r = 0; r < rows.rows; ++r) {
      const std::byte* elements = rows.data + r * rows.stride_bytes;
      S* const kept_row = kept + r * rows.width;
      for (uint32_t lane = 0; lane < rows.width; ++lane) {
        const S x = LoadUnaligned<S>(elements, lane);
        kept_row[lane] = Fits(x, smallest) ? x : S{0};
      }
    }
    Tile<S> tile = rows;
    tile.data = reinterpret_cast<const std::byte*>(kept);
    tile.stride_bytes = rows.width * sizeof(S);
    return tile;
  }

  // The whole tile, or what fits of it. One call of AddToSlices: it becomes much code.
  void AddWhatFits(const Tile<S>& tile, bool is_whole, Bits smallest, int first, int last) {
    alignas(kLanesAlignment) S kept[kKeptMax];
    const uint32_t rows_max = is_whole ? tile.rows : kKeptMax / tile.width;
    for (uint32_t row = 0; row < tile.rows; row += rows_max) {
      Tile<S> some = tile;
      some.data = tile.data + row * tile.stride_bytes;
      some.rows = std::min(rows_max, tile.rows - row);
      AddToSlices(is_whole ? some : Kept(some, smallest, kept), first, last);
    }
  }

  void BeginDigits() {
    if (!has_digits_) std::fill_n(digits_, A::Sum::kDigits, 0);
    has_digits_ = true;
  }

  // The finite elements that the slices do not take, straight to the sums; where there is only one
  // sum, without the carries. A strip's 2^29 rows of a column cannot overflow its digits.
  template <class SumOf>
  void AddTheRest(const Tile<S>& tile, Bits smallest, uint32_t columns, SumOf sum_of) {
    if (columns == 1) BeginDigits();
    for (uint32_t r = 0; r < tile.rows; ++r) {
      const std::byte* row = tile.data + r * tile.stride_bytes;
      for (uint32_t lane = 0; lane < tile.width; ++lane) {
        const S x = LoadUnaligned<S>(row, lane);
        if (x == 0 || !IsFinite(x) || Fits(x, smallest)) continue;
        if (columns == 1) {
          A::ForEachDigitOf(x, [&](uint32_t digit, int64_t value) { digits_[digit] += value; });
        } else {
          A::AddTo(sum_of(lane % columns), x);
        }
      }
    }
  }

  // Brings the slices to the sums; none has begun afterwards.
  template <class SumOf>
  void EmptySlices(uint32_t columns, SumOf sum_of) {
    int slice = 0;
    while (begun_ >> slice != 0) {
      if ((begun_ >> slice & 1) == 0) {
        ++slice;
        continue;
      }
      // Two neighbours go together.
      const bool pair = (begun_ >> slice & 2) != 0;
      FoldSlice(slice, columns);
      if (pair) FoldSlice(slice + 1, columns);
      const int unit = window_.UnitOf(pair ? slice + 1 : slice);
      const int shift = window_.UnitOf(slice) - unit;
      for (uint32_t column = 0; column < columns; ++column) {
        Int128 total = Int128{LaneTotal(slice, column)} << shift;
        if (pair) total += LaneTotal(slice + 1, column);
        A::AddTotal(sum_of(column), total, unit);
      }
      slice += pair ? 2 : 1;
    }
    begun_ = 0;
  }

  // Makes the sums of a slice integers in its units, and joins the lanes of each column. A sum is
  // at most 2^51, and there are at most 2^10 lanes; but elements that somebody changed between the
  // survey and the sum may have come to anything, which is why these are not signed.
  void FoldSlice(int slice, uint32_t columns) {
    double* const sums = slices_[slice];
    const uint64_t anchor = std::bit_cast<uint64_t>(SliceWindow::Anchor(window_.UnitOf(slice)));
    for (uint32_t lane = 0; lane < width_; ++lane) {
      SetLaneTotal(sums + lane, std::bit_cast<uint64_t>(sums[lane]) - anchor);
    }
    FoldLanes(width_, columns, [=](uint32_t into, uint32_t from) {
      SetLaneTotal(sums + into, static_cast<uint64_t>(LaneTotalAt(sums + into)) +
                                    static_cast<uint64_t>(LaneTotalAt(sums + from)));
    });
  }

  // Integers in the memory of the sums. Not through a variable of type double, which need not keep
  // the bits of what is no number.
  int64_t LaneTotal(int slice, uint32_t lane) const { return LaneTotalAt(slices_[slice] + lane); }
  static int64_t LaneTotalAt(const double* place) {
    int64_t total;
    std::memcpy(&total, place, sizeof(total));
    return total;
  }
  static void SetLaneTotal(double* place, uint64_t total) {
    std::memcpy(place, &total, sizeof(total));
  }

  uint32_t width_;
  SliceWindow window_;
  uint32_t begun_;    // Bit i: slice i has begun.
  bool all_flagged_;  // Whether every lane saw something other than -0.0.
  bool is_nan_;
  bool has_digits_;  // Whether `digits_` are in use.
  alignas(kLanesAlignment) Bits flags_[kLanesMax<S>];
  int64_t digits_[A::Sum::kDigits];
  alignas(kLanesAlignment) double slices_[kSlices][kLanesMax<S>];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_EXACT_LANES_H_
