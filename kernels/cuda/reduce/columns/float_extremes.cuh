// A lane keeps extremes of its columns of floating-point elements, and the rows that they were
// first in, a 32-bit word of a row at a time. Extremes of numbers are kept, and the row of the
// first NaN, which is both extremes where NaNs are not ignored.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_FLOAT_EXTREMES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_FLOAT_EXTREMES_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/columns/extremes.cuh"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// The rows, counted as a lane's positions, of a column's extremes and of its first NaN.
struct ColumnExtremeRows {
  uint32_t min = kNoPosition;
  uint32_t max = kNoPosition;
  uint32_t nan = kNoPosition;

  template <class S, class RowOf>
  __device__ void AddTo(S least, S greatest, bool ignore_nan, RowOf row_of,
                        ExtremesState<S>& state) const {
    if (!ignore_nan && nan != kNoPosition) {
      constexpr S kNan = std::numeric_limits<S>::quiet_NaN();
      state.min = {kNan, row_of(nan)};
      state.max = {kNan, row_of(nan)};
    } else if (min != kNoPosition) {
      state.min = {least, row_of(min)};
      state.max = {greatest, row_of(max)};
    }
  }
};

// Calls add(rows of a turn), of which those from `count` on are NaN.
template <class Word, uint32_t kRows, class F>
__device__ inline void WithoutAbsentRows(const Word (&words)[kRows], uint32_t count, F add) {
  if (count == kRows) {
    add(words);
  } else {
    Word present[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) present[r] = r < count ? words[r] : ~Word{0};
    add(present);
  }
}

// 32 and 64 bits.
template <FloatingElement T>
requires(sizeof(T) >= 4) class ColumnExtremes<T> {
 public:
  template <class Word, uint32_t kRows>
  __device__ void Add(const Word (&words)[kRows], uint32_t position, uint32_t count) {
    bool has_nan = false;
    WithoutAbsentRows(words, count,
                      [&](const Word(&present)[kRows]) { has_nan = AddTurn(present, position); });
    if (!has_nan || rows_.nan != kNoPosition) return;
#pragma unroll
    for (uint32_t r = kRows; r-- > 0;) {
      if (r < count && IsNan(std::bit_cast<T>(words[r]))) rows_.nan = position + r;
    }
  }

  template <class RowOf>
  __device__ void AddTo(uint32_t, bool ignore_nan, RowOf row_of, ExtremesState<T>& state) const {
    rows_.AddTo(min_, max_, ignore_nan, row_of, state);
  }

 private:
  // Returns whether there is a NaN.
  template <class Word, uint32_t kRows>
  __device__ bool AddTurn(const Word (&words)[kRows], uint32_t position) {
    uint32_t min_row = kRows;
    uint32_t max_row = kRows;
    bool has_nan = false;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      const T x = std::bit_cast<T>(words[r]);
      // Before the first number, extremes are NaN.
      const bool is_number = !IsNan(x);
      const bool is_less = is_number && !(x >= min_);
      const bool is_greater = is_number && !(x <= max_);
      has_nan = has_nan || !is_number;
      min_ = is_less ? x : min_;
      min_row = is_less ? r : min_row;
      max_ = is_greater ? x : max_;
      max_row = is_greater ? r : max_row;
    }
    rows_.min = min_row < kRows ? position + min_row : rows_.min;
    rows_.max = max_row < kRows ? position + max_row : rows_.max;
    return has_nan;
  }

  T min_ = std::numeric_limits<T>::quiet_NaN();
  T max_ = std::numeric_limits<T>::quiet_NaN();
  ColumnExtremeRows rows_;
};

// All bits of each 16-bit floating-point element where the first is a number that is before the
// second, or than which the second is not a number.
template <bool kIsMax, HalfElement T>
__device__ inline uint32_t AreBefore(uint32_t a, uint32_t b) {
  uint32_t are_before;
  if constexpr (std::is_same_v<T, Float16>) {
    if constexpr (kIsMax) {
      asm("set.gtu.u32.f16x2 %0, %1, %2;" : "=r"(are_before) : "r"(a), "r"(b));
    } else {
      asm("set.ltu.u32.f16x2 %0, %1, %2;" : "=r"(are_before) : "r"(a), "r"(b));
    }
  } else {
    if constexpr (kIsMax) {
      asm("set.gtu.u32.bf16x2 %0, %1, %2;" : "=r"(are_before) : "r"(a), "r"(b));
    } else {
      asm("set.ltu.u32.bf16x2 %0, %1, %2;" : "=r"(are_before) : "r"(a), "r"(b));
    }
  }
  return are_before;
}
template <HalfElement T>
__device__ inline uint32_t AreNumbers(uint32_t word) {
  uint32_t are_numbers;
  if constexpr (std::is_same_v<T, Float16>) {
    asm("set.num.u32.f16x2 %0, %1, %1;" : "=r"(are_numbers) : "r"(word));
  } else {
    asm("set.num.u32.bf16x2 %0, %1, %1;" : "=r"(are_numbers) : "r"(word));
  }
  return are_numbers;
}

// 16 bits: two columns in a word, and their rows in a turn in another.
template <HalfElement T>
class ColumnExtremes<T> {
 public:
  template <uint32_t kRows>
  __device__ void Add(const uint32_t (&words)[kRows], uint32_t position, uint32_t count) {
    uint32_t are_numbers = 0;
    WithoutAbsentRows(words, count, [&](const uint32_t(&present)[kRows]) {
      are_numbers = AddTurn(present, position);
    });
    if (are_numbers == ~0u) return;
#pragma unroll
    for (uint32_t c = 0; c < 2; ++c) {
      if (Half(are_numbers, c) != 0 || rows_[c].nan != kNoPosition) continue;
#pragma unroll
      for (uint32_t r = kRows; r-- > 0;) {
        if (r < count && Half(AreNumbers<T>(words[r]), c) == 0) rows_[c].nan = position + r;
      }
    }
  }

  template <class RowOf>
  __device__ void AddTo(uint32_t c, bool ignore_nan, RowOf row_of,
                        ExtremesState<float>& state) const {
    const auto element = [&](uint32_t word) {
      return ToCompute(T{static_cast<uint16_t>(Half(word, c))});
    };
    rows_[c].AddTo(element(min_), element(max_), ignore_nan, row_of, state);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  __device__ static uint32_t Half(uint32_t word, uint32_t c) { return word >> 16 * c & 0xFFFF; }
  __device__ static uint32_t Select(uint32_t mask, uint32_t a, uint32_t b) {
    return (a & mask) | (b & ~mask);
  }

  // Returns all bits for columns of nothing but numbers.
  template <uint32_t kRows>
  __device__ uint32_t AddTurn(const uint32_t (&words)[kRows], uint32_t position) {
    uint32_t min_rows = kNone;
    uint32_t max_rows = kNone;
    uint32_t all_numbers = ~0u;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      // Before the first number, extremes are NaN.
      const uint32_t are_numbers = AreNumbers<T>(words[r]);
      const uint32_t are_less = AreBefore<false, T>(words[r], min_) & are_numbers;
      const uint32_t are_greater = AreBefore<true, T>(words[r], max_) & are_numbers;
      all_numbers &= are_numbers;
      min_ = Select(are_less, words[r], min_);
      min_rows = Select(are_less, r * 0x1'0001u, min_rows);
      max_ = Select(are_greater, words[r], max_);
      max_rows = Select(are_greater, r * 0x1'0001u, max_rows);
    }
#pragma unroll
    for (uint32_t c = 0; c < 2; ++c) {
      const uint32_t min_row = Half(min_rows, c);
      const uint32_t max_row = Half(max_rows, c);
      rows_[c].min = min_row < kRows ? position + min_row : rows_[c].min;
      rows_[c].max = max_row < kRows ? position + max_row : rows_[c].max;
    }
    return all_numbers;
  }

  uint32_t min_ = kNone;
  uint32_t max_ = kNone;
  ColumnExtremeRows rows_[2];
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_FLOAT_EXTREMES_CUH_
