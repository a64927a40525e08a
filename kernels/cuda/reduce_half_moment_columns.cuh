// Several statistics along axis 0 of 16-bit floating-point elements: what a thread keeps of the
// rows of its columns.
//
// Elements of a window are integers of 28 bits and a sign, which multiplications and additions of
// integers sum exactly (reduce_half_windows.cuh). Elements of the windows below and above are
// summed in the same way, in memory, since they are few. Finite elements of none of these are put
// on a list.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_HALF_MOMENT_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_HALF_MOMENT_COLUMNS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce_half_pairs.cuh"
#include "kernels/cuda/reduce_half_windows.cuh"
#include "kernels/cuda/reduce_moment_columns.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// The windows of a tile: one that ordinary elements lie in, and one below and one above it. So many
// bits lie between the last unit and the largest limit that 127 hold the sum of the squares of
// MomentColumnRowsMax elements. All of float16 fits.
template <HalfElement T>
class HalfMomentWindow {
  using Words = HalfWords<T>;

 public:
  HalfMomentWindow() = default;
  // For elements like those of which the largest magnitude is given, as a float's bits.
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

// What a thread has of its columns.
template <HalfElement T>
class HalfMomentColumns {
 public:
  using Vector = MomentColumnVector;
  using Window = HalfMomentWindow<T>;
  static constexpr uint32_t kSize = MomentTuning::kVectorBytes / sizeof(T);
  static constexpr uint32_t kRows = MomentTuning::kRows;

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
  // Of elements that are few.
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
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      least_[i] = Words::kInfinities;
      greatest_[i] = Words::kInfinities | 0x8000'8000u;
    }
  }

  // Adds the first `count` rows, those of a turn; the others are negative zeros, and as if they
  // were not. Returns whether this and the list hold them: if not, the tile is to be left.
  // column_of(k) is a column of the tile. Called by all lanes of a warp.
  template <class ColumnOf>
  __device__ bool Add(const Vector (&raw)[kRows], uint32_t turn, uint32_t count,
                      const OutlierList& outliers, ColumnOf column_of) {
    Turn rows;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) rows.rows[r] = std::bit_cast<Row>(raw[r]);
    bool has_below = false;
    bool has_above = false;
    bool has_rest = false;
    if (count > 0) {
      if (count < kRows) Fill(rows, count);
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
      if (count < kRows) Clear(rows, count);
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

  // Of the k-th column, with the rest of PlacedExtreme's parameters.
  template <class RowOf, class ElementOf>
  __device__ ColumnMoments MomentsOf(uint32_t k, bool has_places, RowOf row_of,
                                     ElementOf element_of) const {
    ColumnMoments moments;
    const float min = Words::Value(least_[k / 2], k % 2);
    const float max = Words::Value(greatest_[k / 2], k % 2);
    if (min > max) return moments;
    const auto add = [&](const Sums& sums, const HalfWindow<T>& window) {
      const int shift = window.unit() - window_.sum_unit();
      moments.sum += Int128{sums.sums[k]} << shift;
      moments.squares += static_cast<Int128>(sums.SquaresOf(k) << shift << shift);
    };
    add(sums_, window_.Ordinary());
    add(rest_->below, window_.Below());
    add(rest_->above, window_.Above());
    moments.zeros = Words::Half(zeros_[k / 2], k % 2);
    moments.has_others = min != 0 || max != 0 || Words::Half(others_[k / 2], k % 2) != 0;
    moments.min = PlacedExtreme<false, kRows>(min, Words::Half(least_turns_[k / 2], k % 2),
                                              has_places, row_of, element_of);
    moments.max = PlacedExtreme<true, kRows>(max, Words::Half(greatest_turns_[k / 2], k % 2),
                                             has_places, row_of, element_of);
    return moments;
  }

 private:
  using Words = HalfWords<T>;
  static constexpr uint32_t kWords = kSize / 2;
  struct Row {
    uint32_t words[kWords];
  };
  struct Turn {
    Row rows[kRows];
  };
  // Of a turn's magnitudes, two of each, the largest being NaN where an element is.
  struct Survey {
    uint32_t largest;
    uint32_t smallest;
  };
  static_assert(MomentTuning::kTurnsMax * kRows < 1u << 16);

  // Turns after which squares are flushed.
  static constexpr uint32_t kSquareTurns = 1u << (63 - 2 * HalfWindow<T>::kBits - 3);

  __device__ static void Fill(Turn& rows, uint32_t count) {
#pragma unroll
    for (uint32_t r = 1; r < kRows; ++r) {
#pragma unroll
      for (uint32_t i = 0; i < kWords; ++i) {
        if (r >= count) rows.rows[r].words[i] = rows.rows[0].words[i];
      }
    }
  }
  __device__ static void Clear(Turn& rows, uint32_t count) {
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
#pragma unroll
      for (uint32_t i = 0; i < kWords; ++i) {
        if (r >= count) rows.rows[r].words[i] = 0;
      }
    }
  }

  __device__ Survey SurveyOf(const Turn& rows, uint32_t turn) {
    Survey survey = {};
    const uint32_t turns = turn * 0x1'0001u;
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      uint32_t least = rows.rows[0].words[i];
      uint32_t greatest = least;
      uint32_t smallest = least;
#pragma unroll
      for (uint32_t r = 1; r < kRows; ++r) {
        const uint32_t word = rows.rows[r].words[i];
        least = Words::LeastOrNan(least, word);
        greatest = Words::Greatest(greatest, word);
        smallest = Words::Smaller(smallest, word);
      }
      const uint32_t are_less = Words::AreLess(least, least_[i]);
      const uint32_t are_greater = Words::AreLess(greatest_[i], greatest);
      least_turns_[i] = (turns & are_less) | (least_turns_[i] & ~are_less);
      greatest_turns_[i] = (turns & are_greater) | (greatest_turns_[i] & ~are_greater);
      least_[i] = Words::Least(least_[i], least);
      greatest_[i] = Words::Greatest(greatest_[i], greatest);
      const uint32_t largest =
          Words::GreatestOrNan(Words::Magnitudes(least), Words::Magnitudes(greatest));
      survey.largest = i == 0 ? largest : Words::GreatestOrNan(survey.largest, largest);
      survey.smallest = i == 0 ? smallest : Words::Smaller(survey.smallest, smallest);
    }
    survey.smallest &= 0x7FFF'7FFFu;
    return survey;
  }

  // Counts the zeros of the first `count` rows. Returns the smallest of other magnitudes, as an
  // element's bits, or more where there are none.
  __device__ uint32_t AddZeros(const Turn& rows, uint32_t count) {
    uint32_t smallest_less_one = 0x7FFF'7FFFu;
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        const uint32_t word = rows.rows[r].words[i];
        if (r < count) zeros_[i] += Words::AreZero(word) & 0x1'0001u;
        others_[i] |= word ^ 0x8000'8000u;
        smallest_less_one = __vmins2(smallest_less_one, OrderedMagnitudes(word) - 0x1'0001u);
      }
    }
    const uint32_t less_one =
        static_cast<uint32_t>(min(static_cast<int>(smallest_less_one) >> 16,
                                  static_cast<int>(smallest_less_one << 16) >> 16));
    return less_one == 0x7FFF ? less_one : (less_one & 0x7FFF) + 1;
  }

  // Adds a row of elements that a window takes, as integers, to sums of a few rows.
  __device__ static void AddRow(const Row& row, uint32_t diagonal, int32_t (&sums)[kSize],
                                uint64_t (&squares)[kSize]) {
    float scaled[kSize];
    ScaleHalves<T>(row.words[0], row.words[1], diagonal, scaled);
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      const int32_t units = __float2int_rn(scaled[k]);
      sums[k] += units;
      squares[k] += static_cast<uint64_t>(int64_t{units} * units);
    }
  }
  // What a product with FirstScales leaves of words; those of bfloat16 are 1.
  __device__ static Row Scaled(const Row& row, uint32_t scales) {
    if constexpr (!Words::kIsFloat16) return row;
    return {Words::Product(row.words[0], scales), Words::Product(row.words[1], scales)};
  }

  // Of elements that the ordinary window takes.
  __device__ void AddUnits(const Turn& rows) {
    __syncwarp();
    int32_t sums[kSize] = {};
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      AddRow(Scaled(rows.rows[r], scales_), diagonal_, sums, sums_.squares);
    }
    const bool flushes = ++turns_ % kSquareTurns == 0;
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      sums_.sums[k] += sums[k];
      if (flushes) sums_.Flush(k);
    }
  }

  // Adds what a window has beyond the ordinary one, magnitudes from `first` on up to `end`, and
  // makes zeros of it. Called by all lanes of a warp.
  __device__ static void MoveTo(Sums& to, const HalfWindow<T>& window, uint32_t first, uint32_t end,
                                Turn& rows) {
    const uint32_t scales = window.FirstScales();
    const uint32_t diagonal = DiagonalOf(window.SecondScales());
    int32_t sums[kSize] = {};
    uint64_t squares[kSize] = {};
    __syncwarp();
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      Row row;
#pragma unroll
      for (uint32_t i = 0; i < kWords; ++i) {
        uint32_t& word = rows.rows[r].words[i];
        row.words[i] = word & AreWithin(word, first, end);
        word ^= row.words[i];
      }
      AddRow(Scaled(row, scales), diagonal, sums, squares);
    }
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      to.sums[k] += sums[k];
      to.squares[k] += squares[k];
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
  __device__ bool TakeOut(Turn& rows, const OutlierList& outliers, ColumnOf column_of) const {
    Turn left = rows;
    bool is_held = true;
#pragma unroll 1
    for (uint32_t r = 0; r < kRows; ++r) {
#pragma unroll 1
      for (uint32_t k = 0; k < kSize; ++k) {
        uint32_t& word = left.rows[r].words[k / 2];
        const uint32_t half = 0xFFFFu << k % 2 * 16;
        const float x = Words::Value(word, k % 2);
        if (x == 0 || (AreWithin(word, smallest_, limits_) & half) != 0) continue;
        is_held = is_held && IsFinite(x) && outliers.Add(column_of(k), x);
        word &= ~half;
      }
    }
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) rows.rows[r] = left.rows[r];
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
  uint32_t least_[kWords];
  uint32_t greatest_[kWords];
  uint32_t least_turns_[kWords] = {};
  uint32_t greatest_turns_[kWords] = {};
  uint32_t zeros_[kWords] = {};
  uint32_t others_[kWords] = {};
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_HALF_MOMENT_COLUMNS_CUH_
