// A lane keeps columns of integers (kernels.cuh).
//
// Of elements of less than 32 bits, words of several rows of one column are made of words of
// several columns of one row, and summed as in reduce/core/integer_turns.cuh.
//
// Example, int8, a 32-bit word of four columns in each of four rows:
//
//   rows      a0 b0 c0 d0 | a1 b1 c1 d1 | a2 b2 c2 d2 | a3 b3 c3 d3
//   columns   a0 a1 a2 a3 | b0 b1 b2 b3 | ...          one dot product with 1 1 1 1 sums a column
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_INTEGER_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_INTEGER_COLUMNS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/columns/extremes.cuh"
#include "kernels/cuda/reduce/columns/vectors.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/integer_turns.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Sums of the columns of a lane: IntegerTurnSums, which hold a few rows of elements of less than 32
// bits, and as many as a lane has of others.
template <IntegerElement T, uint32_t kSize>
class IntegerColumnSums {
 public:
  // Adds the rows of a turn of the k-th column: words, or elements of 64 bits.
  template <class Word, uint32_t kWords>
  __device__ void Add(uint32_t k, const Word (&words)[kWords]) {
#pragma unroll
    for (const Word word : words) sums_[k].Add(word);
  }
  // Ends a turn, in which a column had so many words.
  __device__ void EndTurn(uint32_t words) {
    if constexpr (kIsNarrow) {
      words_ += words;
      if (words_ + words > IntegerTurnSums<T>::kWordsMax) Flush();
    }
  }
  template <class State>
  __device__ void AddTo(uint32_t k, State& state) const {
    if constexpr (kIsNarrow) {
      const IntegerTurnSums<T>& rest = sums_[k];
      AddTo(state, totals_[k].sum + static_cast<int64_t>(rest.Sum()),
            totals_[k].squares + static_cast<uint64_t>(rest.Squares()),
            totals_[k].nonzero + rest.Nonzero());
    } else {
      AddTo(state, sums_[k].Sum(), sums_[k].Squares(), sums_[k].Nonzero());
    }
  }

 private:
  static constexpr bool kIsNarrow = sizeof(T) < 4;
  struct Totals {
    int64_t sum = 0;
    uint64_t squares = 0;
    uint32_t nonzero = 0;
  };
  struct NoTotals {};

  __device__ void Flush() {
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      totals_[k].sum += static_cast<int64_t>(sums_[k].Sum());
      totals_[k].squares += static_cast<uint64_t>(sums_[k].Squares());
      totals_[k].nonzero += sums_[k].Nonzero();
      sums_[k] = {};
    }
    words_ = 0;
  }
  template <class State, class Sum, class Squares>
  __device__ static void AddTo(State& state, Sum sum, Squares squares, uint32_t nonzero) {
    constexpr uint32_t kParts = State::kParts;
    if constexpr ((kParts & kSumPart) != 0) state.template Part<kSumPart>().sum = sum;
    if constexpr ((kParts & kSquaresPart) != 0) state.template Part<kSquaresPart>().sum = squares;
    if constexpr ((kParts & kTallyPart) != 0) state.template Part<kTallyPart>().nonzero = nonzero;
  }

  IntegerTurnSums<T> sums_[kSize];
  std::conditional_t<kIsNarrow, Totals, NoTotals> totals_[kSize];
  uint32_t words_ = 0;
};

// Words of one row each as words of one column each.
__device__ inline void Transpose(const uint32_t (&rows)[4], uint32_t (&columns)[4]) {
  const uint32_t first_lower = __byte_perm(rows[0], rows[1], 0x5140);
  const uint32_t first_upper = __byte_perm(rows[0], rows[1], 0x7362);
  const uint32_t second_lower = __byte_perm(rows[2], rows[3], 0x5140);
  const uint32_t second_upper = __byte_perm(rows[2], rows[3], 0x7362);
  columns[0] = __byte_perm(first_lower, second_lower, 0x5410);
  columns[1] = __byte_perm(first_lower, second_lower, 0x7632);
  columns[2] = __byte_perm(first_upper, second_upper, 0x5410);
  columns[3] = __byte_perm(first_upper, second_upper, 0x7632);
}
__device__ inline void Transpose(const uint32_t (&rows)[2], uint32_t (&columns)[2]) {
  columns[0] = __byte_perm(rows[0], rows[1], 0x5410);
  columns[1] = __byte_perm(rows[0], rows[1], 0x7632);
}

// Parts of the states of integer columns.
template <IntegerElement T, uint32_t kParts>
class IntegerColumns {
 public:
  using Element = T;
  using Partial = ReductionState<T, kParts>;
  static constexpr uint32_t kRows = ColumnVectorTuning::kRowsInFlight;

  __device__ explicit IntegerColumns(const ReductionParameters&) {}

  __device__ void Add(const ColumnVector<T> (&rows)[kRows], uint32_t position, uint32_t count) {
    AddSums(rows);
    if constexpr (kHasExtremes) extremes_.Add(rows, position, count);
  }

  template <class RowOf>
  __device__ Partial PartialOf(uint32_t k, RowOf row_of) const {
    Partial partial;
    sums_.AddTo(k, partial);
    if constexpr (kHasExtremes) {
      extremes_.AddTo(k, row_of, partial.template Part<kExtremesPart>());
    }
    return partial;
  }

  __device__ static void Finish(const ReductionParameters& parameters, uint64_t column,
                                const Partial& partial) {
    FinishGroup(parameters, column, parameters.group_size, partial);
  }

 private:
  static constexpr uint32_t kSize = sizeof(ColumnVector<T>) / sizeof(T);
  static constexpr bool kHasExtremes = (kParts & kExtremesPart) != 0;
  static_assert(kRows % kSize == 0);

  __device__ void AddSums(const ColumnVector<T> (&rows)[kRows]) {
    constexpr uint32_t kWords = kRows / kSize;  // Of a column.
    if constexpr (kSize == 1) {
      sums_.Add(0, rows);
    } else {
      uint32_t of_columns[kSize][kWords];
#pragma unroll
      for (uint32_t i = 0; i < kWords; ++i) {
        uint32_t some_rows[kSize];
        uint32_t of_some[kSize];
#pragma unroll
        for (uint32_t r = 0; r < kSize; ++r) some_rows[r] = rows[i * kSize + r];
        Transpose(some_rows, of_some);
#pragma unroll
        for (uint32_t k = 0; k < kSize; ++k) of_columns[k][i] = of_some[k];
      }
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) sums_.Add(k, of_columns[k]);
    }
    sums_.EndTurn(kWords);
  }

  struct NoExtremes {};
  IntegerColumnSums<T, kSize> sums_;
  std::conditional_t<kHasExtremes, ColumnExtremes<T>, NoExtremes> extremes_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_INTEGER_COLUMNS_CUH_
