// A thread keeps several statistics of the rows of its columns of 16-bit floating-point elements.
//
// Elements of a window are integers of 28 bits and a sign, which multiplications and additions of
// integers sum exactly (half_windows.cuh). Elements of the windows below and above are summed in
// that way too, in memory, since they are few. Finite elements of none of these windows are put on
// a list.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_MOMENT_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_MOMENT_COLUMNS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce/columns/half_pairs.cuh"
#include "kernels/cuda/reduce/columns/half_windows.cuh"
#include "kernels/cuda/reduce/columns/moment_columns.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// The windows of a tile: one that ordinary elements lie in, and one below and one above it. So many
// bits lie between the last unit and the largest limit that 127 hold the sum of the squares of
// MomentColumnRowsMax elements. All of float16 fits.
template <HalfElement T>
class HalfMomentWindow {
  using Words = HalfWords<T>;

 public:
  HalfMomentWindow() = default;
  // The window for elements whose largest magnitude is given, as a float's bits.
  __device__ explicit HalfMomentWindow(uint32_t largest)
      : unit_(min(max(static_cast<int>(largest >> 23) - 126 + kSlack, kExponentMin),
                  Words::kExponentMax) -
              HalfWindow<T>::kBits) {}

  __device__ HalfWindow<T> Ordinary() const { return HalfWindow<T>(unit_); }
  __device__ HalfWindow<T> Below() const {
    return HalfWindow<T>(Words::kIsFloat16 ? HalfWindow<T>::kFloat16Unit : unit_ - 12);
  }
  __device__ HalfWindow<T> Above() const {
    return HalfWindow<T>(unit_ + (Words::kIsFloat16 ? 12 : 9));
  }
  // Units of what a column's moments count.
  __device__ int sum_unit() const { return Below().unit(); }
  __device__ int square_unit() const { return 2 * sum_unit(); }

 private:
  static constexpr int kSlack = 1;  // Ordinary data have elements somewhat larger.
  // The window below has units of float16's smallest element, or scales that are numbers.
  static constexpr int kExponentMin = Words::kIsFloat16 ? 4 : -80;

  int unit_ = 0;
};

// What a thread has of its two columns, of which a word has a row.
template <HalfElement T>
class HalfMomentColumns {
  using Words = HalfWords<T>;

 public:
  using Vector = MomentColumnVector<T>;
  using Window = HalfMomentWindow<T>;
  static constexpr uint32_t kSize = 2;
  static_assert(sizeof(Vector) == kSize * sizeof(T));
  static constexpr uint32_t kRows = kMomentColumnShape<T>.rows;

  // Sums of a window's elements, and of their squares.
  struct Sums {
    int64_t sums[kSize] = {};
    uint64_t squares[kSize] = {};        // Less than 2^63 more than the upper ones.
    uint64_t upper_squares[kSize] = {};  // In units of 2^32.

    __device__ void Flush(uint32_t k) {
      upper_squares[k] += squares[k] >> 32;
      squares[k] &= 0xFFFF'FFFFu;
    }
    __device__ Uint128 SquaresOf(uint32_t k) const {
      return (Uint128{upper_squares[k]} << 32) + squares[k];
    }
  };
  // Sums of elements outside the ordinary window, which are few.
  struct Rest {
    Sums below;
    Sums above;
  };

  // `rest` is in memory, so that registers are not taken for it.
  __device__ HalfMomentColumns(const Window& window, Rest& rest) : window_(window), rest_(&rest) {
    asm("" : "+l"(rest_)::"memory");
    const HalfWindow<T> ordinary = window.Ordinary();
    limits_ = ordinary.Limits();
    smallest_ = ordinary.Smallest();
    scales_ = ordinary.FirstScales();
    diagonal_ = DiagonalOf(ordinary.SecondScales());
  }

  // Adds the first `count` rows, those of a turn; the others are negative zeros, and as if they
  // were not. Returns whether this and the list hold them: if not, the tile is to be left.
  // column_of(k) is a column of the tile. Called by all lanes of a warp.
  template <class ColumnOf>
  __device__ bool Add(const Vector (&raw)[kRows], uint32_t turn, uint32_t count,
                      const OutlierList& outliers, ColumnOf column_of) {
    Vector rows[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) rows[r] = raw[r];
    bool has_below = false;
    bool has_above = false;
    bool has_rest = false;
    if (count > 0) {
      // Rows that are not there are as the first, and then zeros.
      SetRowsFrom(count, rows[0], rows);
      const Survey survey = SurveyOf(rows, turn);
      has_above = !Words::BothLess(survey.largest, limits_);
      has_below = !Words::BothAtLeast(survey.smallest, smallest_);
      if (has_above) has_rest = !Words::BothLess(survey.largest, window_.Above().Limits());
      if (has_below) {
        uint32_t smallest = min(Words::Half(survey.smallest, 0), Words::Half(survey.smallest, 1));
        if (smallest == 0) smallest = AddZeros(rows, count);
        has_below = smallest < Words::Half(smallest_, 0);
        has_rest = has_rest || smallest < Words::Half(window_.Below().Smallest(), 0);
      }
      SetRowsFrom(count, 0, rows);
    }
    if (__any_sync(~0u, has_below)) {
      MoveTo(rest_->below, window_.Below(), window_.Below().Smallest(), smallest_, rows);
    }
    if (__any_sync(~0u, has_above)) {
      MoveTo(rest_->above, window_.Above(), limits_, window_.Above().Limits(), rows);
    }
    const bool is_held = !has_rest || TakeOut(rows, outliers, column_of);
    AddUnits(rows);
    return is_held;
  }

  // The extreme of the k-th column; the other parameters are those of PlacedExtreme.
  template <class RowOf, class ElementOf>
  __device__ ColumnMoments MomentsOf(uint32_t k, bool has_places, RowOf row_of,
                                     ElementOf element_of) const {
    ColumnMoments moments;
    const float min = Words::Value(least_, k);
    const float max = Words::Value(greatest_, k);
    if (min > max) return moments;
    const auto add = [&](const Sums& sums, const HalfWindow<T>& window) {
      const int shift = window.unit() - window_.sum_unit();
      moments.sum += Int128{sums.sums[k]} << shift;
      moments.squares += static_cast<Int128>(sums.SquaresOf(k) << shift << shift);
    };
    add(sums_, window_.Ordinary());
    add(rest_->below, window_.Below());
    add(rest_->above, window_.Above());
    moments.zeros = Words::Half(zeros_, k);
    moments.has_others = min != 0 || max != 0 || Words::Half(others_, k) != 0;
    moments.min = PlacedExtreme<false, kRows>(min, Words::Half(least_turns_, k), has_places, row_of,
                                              element_of);
    moments.max = PlacedExtreme<true, kRows>(max, Words::Half(greatest_turns_, k), has_places,
                                             row_of, element_of);
    return moments;
  }

 private:
  // A survey of a turn's magnitudes, two in each word, the largest being NaN where an element is.
  struct Survey {
    uint32_t largest;
    uint32_t smallest;
  };
  // Rows whose sum has 32 bits; and turns after which squares are flushed.
  static constexpr uint32_t kSumRows = 1u << (31 - HalfWindow<T>::kBits);
  static constexpr uint32_t kSquareTurns = (1u << (63 - 2 * HalfWindow<T>::kBits)) / kRows;
  static_assert(kRows % kSumRows == 0 && kSquareTurns > 0);
  static_assert(kMomentColumnShape<T>.turns_max * kRows < 1u << 16);

  __device__ static void SetRowsFrom(uint32_t count, Vector row, Vector (&rows)[kRows]) {
    if (count == kRows) return;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) rows[r] = r < count ? rows[r] : row;
  }

  __device__ Survey SurveyOf(const Vector (&rows)[kRows], uint32_t turn) {
    uint32_t least = rows[0];
    uint32_t greatest = rows[0];
    uint32_t smallest = rows[0];
#pragma unroll
    for (uint32_t r = 1; r < kRows; ++r) {
      least = Words::LeastOrNan(least, rows[r]);
      greatest = Words::Greatest(greatest, rows[r]);
      smallest = Words::Smaller(smallest, rows[r]);
    }
    const uint32_t turns = turn * 0x1'0001u;
    const uint32_t are_less = Words::AreLess(least, least_);
    const uint32_t are_greater = Words::AreLess(greatest_, greatest);
    least_turns_ = (turns & are_less) | (least_turns_ & ~are_less);
    greatest_turns_ = (turns & are_greater) | (greatest_turns_ & ~are_greater);
    least_ = Words::Least(least_, least);
    greatest_ = Words::Greatest(greatest_, greatest);
    return {Words::GreatestOrNan(Words::Magnitudes(least), Words::Magnitudes(greatest)),
            smallest & 0x7FFF'7FFFu};
  }

  // Counts the zeros of the first `count` rows. Returns the smallest of other magnitudes, as an
  // element's bits, or more where there are none.
  __device__ uint32_t AddZeros(const Vector (&rows)[kRows], uint32_t count) {
    uint32_t smallest_less_one = 0x7FFF'7FFFu;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      if (r < count) zeros_ += Words::AreZero(rows[r]) & 0x1'0001u;
      others_ |= rows[r] ^ 0x8000'8000u;
      smallest_less_one = __vmins2(smallest_less_one, OrderedMagnitudes(rows[r]) - 0x1'0001u);
    }
    const uint32_t less_one =
        static_cast<uint32_t>(min(static_cast<int>(smallest_less_one) >> 16,
                                  static_cast<int>(smallest_less_one << 16) >> 16));
    return less_one == 0x7FFF ? less_one : (less_one & 0x7FFF) + 1;
  }

  // Adds rows of elements that a window takes, as integers. Called by all lanes of a warp.
  __device__ static void AddRows(const Vector (&rows)[kRows], uint32_t scales, uint32_t diagonal,
                                 Sums& to) {
#pragma unroll
    for (uint32_t first = 0; first < kRows; first += kSumRows) {
      int32_t of_rows[kSize] = {};
#pragma unroll
      for (uint32_t r = first; r < first + kSumRows; r += 2) {
        float scaled[2 * kSize];
        ScaleHalves<T>(Scaled(rows[r], scales), Scaled(rows[r + 1], scales), diagonal, scaled);
#pragma unroll
        for (uint32_t i = 0; i < 2 * kSize; ++i) {
          const int32_t units = __float2int_rn(scaled[i]);
          of_rows[i % kSize] += units;
          to.squares[i % kSize] += static_cast<uint64_t>(int64_t{units} * units);
        }
      }
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) to.sums[k] += of_rows[k];
    }
  }
  // What a product with FirstScales leaves of a word; those of bfloat16 are 1.
  __device__ static uint32_t Scaled(uint32_t word, uint32_t scales) {
    if constexpr (!Words::kIsFloat16) return word;
    return Words::Product(word, scales);
  }

  // Adds the units of elements that the ordinary window takes.
  __device__ void AddUnits(const Vector (&rows)[kRows]) {
    __syncwarp();
    AddRows(rows, scales_, diagonal_, sums_);
    if (++turns_ % kSquareTurns != 0) return;
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) sums_.Flush(k);
  }

  // Adds what a window has beyond the ordinary one, magnitudes from `first` on up to `end`, and
  // makes zeros of it. Called by all lanes of a warp.
  __device__ static void MoveTo(Sums& to, const HalfWindow<T>& window, uint32_t first, uint32_t end,
                                Vector (&rows)[kRows]) {
    Vector moved[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      moved[r] = rows[r] & AreWithin(rows[r], first, end);
      rows[r] ^= moved[r];
    }
    Sums sums;
    __syncwarp();
    AddRows(moved, window.FirstScales(), DiagonalOf(window.SecondScales()), sums);
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      to.sums[k] += sums.sums[k];
      to.squares[k] += sums.squares[k];
      to.Flush(k);
    }
  }
  // All bits of halves whose magnitudes are no less than `smallest` and less than `limits`.
  __device__ static uint32_t AreWithin(uint32_t word, uint32_t smallest, uint32_t limits) {
    const uint32_t magnitudes = word & 0x7FFF'7FFFu;
    return Words::AreLess(magnitudes, limits) & ~Words::AreLess(magnitudes, smallest);
  }
  // Puts what the ordinary window does not take on the list, and makes zeros of it. Returns whether
  // that is so: all is finite, and the list had room. With code that takes few registers.
  template <class ColumnOf>
  __device__ bool TakeOut(Vector (&rows)[kRows], const OutlierList& outliers,
                          ColumnOf column_of) const {
    struct Left {
      Vector rows[kRows];
    };
    Left left;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) left.rows[r] = rows[r];
    bool is_held = true;
#pragma unroll 1
    for (uint32_t r = 0; r < kRows; ++r) {
#pragma unroll 1
      for (uint32_t k = 0; k < kSize; ++k) {
        uint32_t& word = left.rows[r];
        const uint32_t half = 0xFFFFu << k * 16;
        const float x = Words::Value(word, k);
        if (x == 0 || (AreWithin(word, smallest_, limits_) & half) != 0) continue;
        is_held = is_held && IsFinite(x) && outliers.Add(column_of(k), x);
        word &= ~half;
      }
    }
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) rows[r] = left.rows[r];
    return is_held;
  }

  Window window_;
  Rest* rest_;
  uint32_t limits_;
  uint32_t smallest_;
  uint32_t scales_;
  uint32_t diagonal_;
  Sums sums_;
  uint32_t turns_ = 0;
  uint32_t least_ = Words::kInfinities;
  uint32_t greatest_ = Words::kInfinities | 0x8000'8000u;
  uint32_t least_turns_ = 0;
  uint32_t greatest_turns_ = 0;
  uint32_t zeros_ = 0;
  uint32_t others_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_MOMENT_COLUMNS_CUH_
