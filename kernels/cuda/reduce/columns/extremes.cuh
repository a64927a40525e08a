// A lane keeps extremes of its columns of integers, and the rows that they were first in
// (integer_columns.cuh).
//
// An element of less than 32 bits and its row in a turn are one number, of which the element is the
// upper half and the row the lower. Extremes from before the turn have a lower half that comes
// before that of every row.
//
// Example, minima, rows 1 and 2 of a turn:
//
//   before: (4, 0)     row 1: (4, 1)     row 2: (-2, 2)
//   min((4, 0), (4, 1), (-2, 2)) = (-2, 2): one instruction a row finds value and row
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_EXTREMES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_EXTREMES_CUH_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// A lane's position of no row.
inline constexpr uint32_t kNoPosition = ~uint32_t{0};

// Extremes of the columns that a vector has elements of, and their positions among the lane's rows;
// none where they are what all elements are at least as extreme as.
//
// Take: the r-th row of a turn. EndTurn, after these, with the position of the turn's first row:
// whether the turn brought new ones. MayTake, of bytes: whether there may be new ones among the
// rows of a turn, in half as many instructions. Of longer elements most turns of some lane of a
// warp bring some.
template <class T>
class ColumnTurnExtremes;

// Bytes: two numbers of 16 bits in a word, of the even columns and of the odd ones.
template <IntegerElement T>
requires(sizeof(T) == 1) class ColumnTurnExtremes<T> {
 public:
  template <uint32_t kRows>
  __device__ bool MayTake(const uint32_t (&rows)[kRows]) const {
    uint32_t least[2] = {min_[0], min_[1]};
    uint32_t greatest[2] = {max_[0], max_[1]};
#pragma unroll
    for (uint32_t r = 0; r < kRows; r += 2) {
      // What is below the odd columns' elements decides nothing: only the upper bytes count.
      least[0] = Min(least[0], rows[r] << 8, rows[r + 1] << 8);
      least[1] = Min(least[1], rows[r], rows[r + 1]);
      greatest[0] = Max(greatest[0], rows[r] << 8, rows[r + 1] << 8);
      greatest[1] = Max(greatest[1], rows[r], rows[r + 1]);
    }
    const uint32_t less = (least[0] ^ min_[0]) | (least[1] ^ min_[1]);
    const uint32_t greater = (greatest[0] ^ max_[0]) | (greatest[1] ^ max_[1]);
    return ((less | greater) & ~kLower) != 0;
  }
  __device__ void Take(uint32_t row, uint32_t r) {
    const uint32_t elements[2] = {__byte_perm(row, 0, 0x2404), row & ~kLower};
    const uint32_t before = (r + 1) * 0x0001'0001u;
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      min_[i] = MinWithSum(elements[i], before, min_[i]);
      max_[i] = MaxWithSum(elements[i], kLower - before, max_[i]);
    }
  }
  __device__ bool EndTurn(uint32_t position) {
    bool is_new = false;
#pragma unroll
    for (uint32_t c = 0; c < 4; ++c) {
      const uint32_t min_row = min_[c % 2] >> (c / 2 * 16) & 0xFF;
      const uint32_t max_row = ~max_[c % 2] >> (c / 2 * 16) & 0xFF;
      if (min_row != 0) min_at_[c] = position + min_row - 1;
      if (max_row != 0) max_at_[c] = position + max_row - 1;
      is_new = is_new || (min_row | max_row) != 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      min_[i] &= ~kLower;
      max_[i] |= kLower;
    }
    return is_new;
  }

  __device__ T Least(uint32_t c) const { return static_cast<T>(min_[c % 2] >> (c / 2 * 16 + 8)); }
  __device__ T Greatest(uint32_t c) const {
    return static_cast<T>(max_[c % 2] >> (c / 2 * 16 + 8));
  }
  __device__ uint32_t LeastAt(uint32_t c) const { return min_at_[c]; }
  __device__ uint32_t GreatestAt(uint32_t c) const { return max_at_[c]; }

 private:
  static constexpr bool kIsSigned = std::is_signed_v<T>;
  static constexpr uint32_t kLower = 0x00FF'00FF;
  static constexpr uint32_t kFirstMin = kIsSigned ? 0x7F00'7F00 : 0xFF00'FF00;
  static constexpr uint32_t kFirstMax = kIsSigned ? 0x80FF'80FF : 0x00FF'00FF;

  __device__ static uint32_t Min(uint32_t a, uint32_t b, uint32_t c) {
    return kIsSigned ? __vimin3_s16x2(a, b, c) : __vimin3_u16x2(a, b, c);
  }
  __device__ static uint32_t Max(uint32_t a, uint32_t b, uint32_t c) {
    return kIsSigned ? __vimax3_s16x2(a, b, c) : __vimax3_u16x2(a, b, c);
  }
  __device__ static uint32_t MinWithSum(uint32_t a, uint32_t b, uint32_t c) {
    return kIsSigned ? __viaddmin_s16x2(a, b, c) : __viaddmin_u16x2(a, b, c);
  }
  __device__ static uint32_t MaxWithSum(uint32_t a, uint32_t b, uint32_t c) {
    return kIsSigned ? __viaddmax_s16x2(a, b, c) : __viaddmax_u16x2(a, b, c);
  }

  uint32_t min_[2] = {kFirstMin, kFirstMin};
  uint32_t max_[2] = {kFirstMax, kFirstMax};
  uint32_t min_at_[4] = {kNoPosition, kNoPosition, kNoPosition, kNoPosition};
  uint32_t max_at_[4] = {kNoPosition, kNoPosition, kNoPosition, kNoPosition};
};

// 16 bits: numbers of 32.
template <IntegerElement T>
requires(sizeof(T) == 2) class ColumnTurnExtremes<T> {
 public:
  __device__ void Take(uint32_t row, uint32_t r) {
    const uint32_t elements[2] = {row << 16, row & ~kLower};
#pragma unroll
    for (uint32_t c = 0; c < 2; ++c) {
      const Number element = static_cast<Number>(elements[c]);
      const Number before = static_cast<Number>(r + 1);
      const Number after = static_cast<Number>(kLower - (r + 1));
      if constexpr (std::is_signed_v<T>) {
        min_[c] = __viaddmin_s32(element, before, min_[c]);
        max_[c] = __viaddmax_s32(element, after, max_[c]);
      } else {
        min_[c] = __viaddmin_u32(element, before, min_[c]);
        max_[c] = __viaddmax_u32(element, after, max_[c]);
      }
    }
  }
  __device__ bool EndTurn(uint32_t position) {
    bool is_new = false;
#pragma unroll
    for (uint32_t c = 0; c < 2; ++c) {
      const uint32_t min_row = static_cast<uint32_t>(min_[c]) & kLower;
      const uint32_t max_row = ~static_cast<uint32_t>(max_[c]) & kLower;
      if (min_row != 0) min_at_[c] = position + min_row - 1;
      if (max_row != 0) max_at_[c] = position + max_row - 1;
      is_new = is_new || (min_row | max_row) != 0;
      min_[c] = static_cast<Number>(static_cast<uint32_t>(min_[c]) & ~kLower);
      max_[c] = static_cast<Number>(static_cast<uint32_t>(max_[c]) | kLower);
    }
    return is_new;
  }

  __device__ T Least(uint32_t c) const { return static_cast<T>(min_[c] >> 16); }
  __device__ T Greatest(uint32_t c) const { return static_cast<T>(max_[c] >> 16); }
  __device__ uint32_t LeastAt(uint32_t c) const { return min_at_[c]; }
  __device__ uint32_t GreatestAt(uint32_t c) const { return max_at_[c]; }

 private:
  using Number = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
  static constexpr uint32_t kLower = 0xFFFF;
  static constexpr Number kFirstMin =
      static_cast<Number>(uint32_t{std::numeric_limits<Number>::max()} & ~kLower);
  static constexpr Number kFirstMax =
      static_cast<Number>(static_cast<uint32_t>(std::numeric_limits<Number>::min()) | kLower);

  Number min_[2] = {kFirstMin, kFirstMin};
  Number max_[2] = {kFirstMax, kFirstMax};
  uint32_t min_at_[2] = {kNoPosition, kNoPosition};
  uint32_t max_at_[2] = {kNoPosition, kNoPosition};
};

// 32 and 64 bits.
template <IntegerElement T>
requires(sizeof(T) >= 4) class ColumnTurnExtremes<T> {
 public:
  template <class Word>
  __device__ void Take(Word row, uint32_t r) {
    const T x = static_cast<T>(row);
    min_row_ = x < min_ ? r + 1 : min_row_;
    min_ = min(x, min_);
    max_row_ = x > max_ ? r + 1 : max_row_;
    max_ = max(x, max_);
  }
  __device__ bool EndTurn(uint32_t position) {
    const bool is_new = (min_row_ | max_row_) != 0;
    if (min_row_ != 0) min_at_ = position + min_row_ - 1;
    if (max_row_ != 0) max_at_ = position + max_row_ - 1;
    min_row_ = max_row_ = 0;
    return is_new;
  }

  __device__ T Least(uint32_t) const { return min_; }
  __device__ T Greatest(uint32_t) const { return max_; }
  __device__ uint32_t LeastAt(uint32_t) const { return min_at_; }
  __device__ uint32_t GreatestAt(uint32_t) const { return max_at_; }

 private:
  T min_ = std::numeric_limits<T>::max();
  T max_ = std::numeric_limits<T>::min();
  uint32_t min_row_ = 0;  // Of the turn, from 1 on; 0 where it brought none.
  uint32_t max_row_ = 0;
  uint32_t min_at_ = kNoPosition;
  uint32_t max_at_ = kNoPosition;
};

// What a lane keeps of the extremes of its columns.
template <class T>
class ColumnExtremes {
 public:
  // Takes the first `count` rows of a turn, at positions from `position` on. Called by all lanes of
  // a warp.
  template <class Word, uint32_t kRows>
  __device__ void Add(const Word (&rows)[kRows], uint32_t position, uint32_t count) {
    if (count > 0) first_ = min(first_, position);
    if constexpr (sizeof(T) == 1) {
      if (!__any_sync(~0u, was_new_ || count < kRows)) {
        if (!__any_sync(~0u, extremes_.MayTake(rows))) return;
      }
    }
    if (count == kRows) {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) extremes_.Take(rows[r], r);
    } else {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        if (r < count) extremes_.Take(rows[r], r);
      }
    }
    was_new_ = extremes_.EndTurn(position);
  }

  template <class RowOf>
  __device__ void AddTo(uint32_t c, RowOf row_of, ExtremesState<T>& state) const {
    if (first_ == kNoPosition) return;
    // Where none is noted, all elements are equal.
    const auto row = [&](uint32_t at) { return row_of(at == kNoPosition ? first_ : at); };
    state.min = {extremes_.Least(c), row(extremes_.LeastAt(c))};
    state.max = {extremes_.Greatest(c), row(extremes_.GreatestAt(c))};
  }

 private:
  ColumnTurnExtremes<T> extremes_;
  uint32_t first_ = kNoPosition;
  bool was_new_ = true;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_EXTREMES_CUH_
