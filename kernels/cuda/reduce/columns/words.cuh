// A block sums a tile of columns whatever its elements are: threads add the rows of one column each
// to words of their own (reduce/core/thread_words.cuh), and the words of a column's threads are
// joined.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WORDS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/columns/columns.cuh"
#include "kernels/cuda/reduce/columns/items.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/thread_words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"

namespace gridfold::kernels::cuda {

// The rows of an item that the threads of a row of the block's layout take: of each turn every so
// many-th one. Numbers of rows but those of items are powers of two.
class ItemRows {
 public:
  __device__ ItemRows(const ColumnSumItem& item, uint32_t turn_rows, const ColumnLayout& layout)
      : row_(layout.row), step_(layout.rows), turn_step_(item.turn_step) {
    of_turn_log2_ = static_cast<uint32_t>(__ffs(static_cast<int>(turn_rows / step_))) - 1;
    const uint64_t last = item.rows_left % turn_step_;
    count_ = item.rows_left / turn_step_ << of_turn_log2_;
    if (last > row_) count_ += min((last - row_ - 1) / step_ + 1, uint64_t{1} << of_turn_log2_);
  }

  __device__ uint64_t count() const { return count_; }
  // The i-th of them, of the item.
  __device__ uint64_t operator[](uint64_t i) const {
    const uint32_t of_turn = static_cast<uint32_t>(i) & ((1u << of_turn_log2_) - 1);
    return (i >> of_turn_log2_) * turn_step_ + (of_turn * step_ + row_);
  }

 private:
  uint32_t row_;
  uint32_t step_;
  uint32_t of_turn_log2_;
  uint64_t turn_step_;
  uint64_t count_;
};

// Joins the first `count` words, integers, and the flags of a column's threads, for those of row 0.
// Called by all threads, has barriers, and another is needed before the words of others are
// changed.
__device__ inline void JoinRows(const cg::thread_block& block, const ColumnLayout& layout,
                                WordColumn words, uint32_t count, uint32_t* flags) {
  const uint32_t rank = block.thread_rank();
#pragma unroll 1
  for (uint32_t half = layout.rows / 2; half > 0; half /= 2) {
    SyncBlock(block);
    if (layout.row >= half) continue;
    const uint32_t other = half * layout.columns;
#pragma unroll 4
    for (uint32_t i = 0; i < count; ++i) words[i] += (&words[i])[other];
    flags[rank] |= flags[rank + other];
  }
}

// The sums of an item's columns, for the threads of row 0; `flags` is shared memory. Called by all
// threads, and ends with a barrier.
template <class T>
__device__ inline SumOnlyState<T> SumItemInWords(const ReductionParameters& parameters,
                                                 const ColumnSumItem& item, uint32_t turn_rows,
                                                 const cg::thread_block& block,
                                                 const ColumnLayout& layout, uint32_t* flags) {
  using Words = SingleWords<T>;
  constexpr uint64_t kPart = WordReader<T>::kAdditionsMax;
  const WordColumn words = WordsOf(block);
  const uint64_t pitch = parameters.row_pitch;
  const uint64_t column = item.first_column + layout.column;
  const T* const first = static_cast<const T*>(parameters.elements) + item.first_row * pitch +
                         parameters.FirstOfColumn(column);
  const ItemRows rows(item, turn_rows, layout);
  const uint64_t count = column < parameters.group_count ? rows.count() : 0;
  // All threads join as often as those with the most rows.
  const uint64_t count_max = ItemRows(item, turn_rows, {layout.columns, layout.rows, 0, 0}).count();
  SumOnlyState<T> state;
#pragma unroll 1
  for (uint64_t begin = 0; begin < count_max; begin += kPart) {
    const uint64_t left = count > begin ? count - begin : 0;
    Words::Reset(words);
    AddToWords<T, PairTuning::kWordLoadsInFlight>(
        words, static_cast<uint32_t>(min(left, kPart)),
        [&](uint32_t i) { return first + rows[begin + i] * pitch; });
    WordReader<T> reader;
#pragma unroll
    for (uint32_t i = 0; i < Words::kUsed; ++i) words[i] = reader.Read(words, i);
    flags[block.thread_rank()] = reader.flags();
    JoinRows(block, layout, words, Words::kUsed, flags);
    if (layout.row == 0) {
      auto sum = SumOfIntegers<T>([&](uint32_t i) { return words[i]; });
      sum.AddFlags(flags[block.thread_rank()]);
      state.template Part<kSumPart>().sum.Merge(sum);
    }
    SyncBlock(block);
  }
  return state;
}

// What states of a column's threads are together, for those of row 0. As SumItemInWords otherwise.
template <class T>
__device__ inline SumOnlyState<T> JoinStates(const SumOnlyState<T>& state,
                                             const cg::thread_block& block,
                                             const ColumnLayout& layout, uint32_t* flags) {
  using Sum = ExactSum<float, 1>;
  static_assert(Sum::kDigits <= static_cast<int>(kSingleSumWords));
  const WordColumn words = WordsOf(block);
  const Sum& sum = state.template Part<kSumPart>().sum;
#pragma unroll
  for (uint32_t i = 0; i < Sum::kLimbs; ++i) {
    words[2 * i] = static_cast<uint32_t>(sum.limbs()[i]);
    words[2 * i + 1] = static_cast<int64_t>(sum.limbs()[i] >> Sum::kDigitBits);
  }
  flags[block.thread_rank()] = sum.flags();
  JoinRows(block, layout, words, Sum::kDigits, flags);
  SumOnlyState<T> joined;
  if (layout.row == 0) {
    Sum& all = joined.template Part<kSumPart>().sum;
    all.AddFlags(flags[block.thread_rank()]);
    all.AddDigits([&](int i) { return words[static_cast<uint32_t>(i)]; });
  }
  SyncBlock(block);
  return joined;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_WORDS_CUH_
