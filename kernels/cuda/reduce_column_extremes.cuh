// Extremes of columns of integers, and the rows that they were first in, a word of a row at a time.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMN_EXTREMES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMN_EXTREMES_CUH_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

// A lane's position of no row.
inline constexpr uint32_t kNoPosition = ~uint32_t{0};

// The extremes of the columns that a word has elements of, or of one of 64 bits. Add takes the
// first `count` rows of a turn, at consecutive positions.
template <class T>
class ColumnExtremes;

// 32 and 64 bits.
template <IntegerElement T>
requires(sizeof(T) >= 4) class ColumnExtremes<T> {
 public:
  template <class Word, uint32_t kRows>
  __device__ void Add(const Word (&words)[kRows], uint32_t position, uint32_t count) {
    first_ = count > 0 ? min(first_, position) : first_;
    if (count == kRows) {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) AddOne(static_cast<T>(words[r]), position + r);
    } else {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        if (r < count) AddOne(static_cast<T>(words[r]), position + r);
      }
    }
  }

  template <class RowOf>
  __device__ void AddTo(uint32_t, RowOf row_of, ExtremesState<T>& state) const {
    if (first_ == kNoPosition) return;
    state.min = {min_, row_of(min_at_ == kNoPosition ? first_ : min_at_)};
    state.max = {max_, row_of(max_at_ == kNoPosition ? first_ : max_at_)};
  }

 private:
  __device__ void AddOne(T x, uint32_t position) {
    min_at_ = x < min_ ? position : min_at_;
    min_ = min(x, min_);
    max_at_ = x > max_ ? position : max_at_;
    max_ = max(x, max_);
  }

  T min_ = std::numeric_limits<T>::max();
  T max_ = std::numeric_limits<T>::min();
  uint32_t min_at_ = kNoPosition;
  uint32_t max_at_ = kNoPosition;
  uint32_t first_ = kNoPosition;
};

// Halves of 16 bits, and bytes: an element and its row in a turn are one number, of which the
// element is the upper half and the row the lower. Extremes of before the turn have a lower half
// that is before that of every row.

// 16 bits: numbers of 32.
template <IntegerElement T>
requires(sizeof(T) == 2) class ColumnExtremes<T> {
 public:
  template <uint32_t kRows>
  __device__ void Add(const uint32_t (&words)[kRows], uint32_t position, uint32_t count) {
    first_ = count > 0 ? min(first_, position) : first_;
    if (count == kRows) {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) AddRow(words[r], r);
    } else {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        if (r < count) AddRow(words[r], r);
      }
    }
#pragma unroll
    for (uint32_t c = 0; c < 2; ++c) {
      const uint32_t min_row = static_cast<uint32_t>(min_[c]) & kLower;
      const uint32_t max_row = ~static_cast<uint32_t>(max_[c]) & kLower;
      min_at_[c] = min_row != 0 ? position - 1 + min_row : min_at_[c];
      max_at_[c] = max_row != 0 ? position - 1 + max_row : max_at_[c];
      min_[c] = static_cast<Number>(static_cast<uint32_t>(min_[c]) & ~kLower);
      max_[c] = static_cast<Number>(static_cast<uint32_t>(max_[c]) | kLower);
    }
  }

  template <class RowOf>
  __device__ void AddTo(uint32_t c, RowOf row_of, ExtremesState<T>& state) const {
    if (first_ == kNoPosition) return;
    state.min = {static_cast<T>(min_[c] >> 16),
                 row_of(min_at_[c] == kNoPosition ? first_ : min_at_[c])};
    state.max = {static_cast<T>(max_[c] >> 16),
                 row_of(max_at_[c] == kNoPosition ? first_ : max_at_[c])};
  }

 private:
  using Number = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
  static constexpr uint32_t kLower = 0xFFFF;
  static constexpr Number kFirstMin =
      static_cast<Number>(std::numeric_limits<Number>::max() & static_cast<Number>(~kLower));
  static constexpr Number kFirstMax =
      static_cast<Number>(static_cast<uint32_t>(std::numeric_limits<Number>::min()) | kLower);

  __device__ static Number MinOfSum(Number a, Number b, Number c) {
    if constexpr (std::is_signed_v<T>)
      return __viaddmin_s32(a, b, c);
    else
      return __viaddmin_u32(a, b, c);
  }
  __device__ static Number MaxOfSum(Number a, Number b, Number c) {
    if constexpr (std::is_signed_v<T>)
      return __viaddmax_s32(a, b, c);
    else
      return __viaddmax_u32(a, b, c);
  }
  __device__ void AddRow(uint32_t word, uint32_t r) {
    const Number elements[2] = {static_cast<Number>(word << 16),
                                static_cast<Number>(word & ~kLower)};
#pragma unroll
    for (uint32_t c = 0; c < 2; ++c) {
      min_[c] = MinOfSum(elements[c], static_cast<Number>(r + 1), min_[c]);
      max_[c] = MaxOfSum(elements[c], static_cast<Number>(kLower - 1 - r), max_[c]);
    }
  }

  Number min_[2] = {kFirstMin, kFirstMin};
  Number max_[2] = {kFirstMax, kFirstMax};
  uint32_t min_at_[2] = {kNoPosition, kNoPosition};
  uint32_t max_at_[2] = {kNoPosition, kNoPosition};
  uint32_t first_ = kNoPosition;
};

// Bytes: two numbers of 16 bits a word, of the even columns and of the odd ones.
template <IntegerElement T>
requires(sizeof(T) == 1) class ColumnExtremes<T> {
 public:
  template <uint32_t kRows>
  __device__ void Add(const uint32_t (&words)[kRows], uint32_t position, uint32_t count) {
    static_assert(kRows < 255);
    first_ = count > 0 ? min(first_, position) : first_;
    if (count == kRows) {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) AddRow(words[r], r);
    } else {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        if (r < count) AddRow(words[r], r);
      }
    }
    const uint32_t new_min = (min_[0] | min_[1]) & kLower;
    const uint32_t new_max = ~(max_[0] & max_[1]) & kLower;
    if ((new_min | new_max) != 0) Place(position);
  }

  template <class RowOf>
  __device__ void AddTo(uint32_t c, RowOf row_of, ExtremesState<T>& state) const {
    if (first_ == kNoPosition) return;
    const uint32_t shift = c / 2 * 16 + 8;
    state.min = {static_cast<T>(min_[c % 2] >> shift),
                 row_of(min_at_[c] == kNoPosition ? first_ : min_at_[c])};
    state.max = {static_cast<T>(max_[c % 2] >> shift),
                 row_of(max_at_[c] == kNoPosition ? first_ : max_at_[c])};
  }

 private:
  static constexpr bool kIsSigned = std::is_signed_v<T>;
  static constexpr uint32_t kLower = 0x00FF'00FF;
  static constexpr uint32_t kFirstMin = kIsSigned ? 0x7F00'7F00 : 0xFF00'FF00;
  static constexpr uint32_t kFirstMax = kIsSigned ? 0x80FF'80FF : 0x00FF'00FF;

  __device__ static uint32_t MinOfSum(uint32_t a, uint32_t b, uint32_t c) {
    return kIsSigned ? __viaddmin_s16x2(a, b, c) : __viaddmin_u16x2(a, b, c);
  }
  __device__ static uint32_t MaxOfSum(uint32_t a, uint32_t b, uint32_t c) {
    return kIsSigned ? __viaddmax_s16x2(a, b, c) : __viaddmax_u16x2(a, b, c);
  }
  __device__ void AddRow(uint32_t word, uint32_t r) {
    const uint32_t elements[2] = {__byte_perm(word, 0, 0x2404), word & ~kLower};
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      min_[i] = MinOfSum(elements[i], (r + 1) * 0x0001'0001u, min_[i]);
      max_[i] = MaxOfSum(elements[i], (0xFE - r) * 0x0001'0001u, max_[i]);
    }
  }
  // Notes the places of extremes that the turn brought.
  __device__ void Place(uint32_t position) {
#pragma unroll
    for (uint32_t c = 0; c < 4; ++c) {
      const uint32_t min_row = min_[c % 2] >> (c / 2 * 16) & 0xFF;
      const uint32_t max_row = ~max_[c % 2] >> (c / 2 * 16) & 0xFF;
      min_at_[c] = min_row != 0 ? position - 1 + min_row : min_at_[c];
      max_at_[c] = max_row != 0 ? position - 1 + max_row : max_at_[c];
    }
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      min_[i] &= ~kLower;
      max_[i] |= kLower;
    }
  }

  uint32_t min_[2] = {kFirstMin, kFirstMin};
  uint32_t max_[2] = {kFirstMax, kFirstMax};
  uint32_t min_at_[4] = {kNoPosition, kNoPosition, kNoPosition, kNoPosition};
  uint32_t max_at_[4] = {kNoPosition, kNoPosition, kNoPosition, kNoPosition};
  uint32_t first_ = kNoPosition;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMN_EXTREMES_CUH_
