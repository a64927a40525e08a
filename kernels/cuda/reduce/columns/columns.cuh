// The general kernel for axis 0 reduces columns by any statistics. Neighbouring threads read
// neighbouring columns of a row; the rows are shared out among the rest of the block's threads and,
// where columns are few, among blocks.
//
// Example: 64 columns, a block of 256 threads:
//
//   threads 0-63 take row 0, threads 64-127 row 1, and so on: four rows at a time
//   four threads have a state of each column, which are joined in shared memory
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_COLUMNS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/elements.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/plan/kernel_choice.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Where a thread stands in its block: threads are laid out as rows of neighbouring columns.
struct ColumnLayout {
  uint32_t columns;  // Of the tile.
  uint32_t rows;     // That the block's threads take at once.
  uint32_t column;
  uint32_t row;

  __device__ static ColumnLayout Of(uint32_t rank, uint32_t threads, uint32_t columns_log2) {
    const uint32_t columns = 1u << columns_log2;
    return {columns, threads >> columns_log2, rank & (columns - 1), rank >> columns_log2};
  }
};

// Takes rows [begin, end) of a column, every `step`-th of them.
template <class T, uint32_t kParts>
__device__ inline void AddRows(const ReductionParameters& parameters, uint64_t column,
                               uint64_t begin, uint64_t end, uint32_t step,
                               ElementAccumulator<T, kParts>& accumulator) {
  constexpr uint32_t kInFlight = ReduceRowsInFlight(sizeof(T));
  const uint64_t pitch = parameters.row_pitch;
  const T* const elements =
      static_cast<const T*>(parameters.elements) + parameters.FirstOfColumn(column);
  uint64_t row = begin;
  for (; row + (kInFlight - 1) * step < end; row += kInFlight * step) {
    Batch<ComputeType<T>, kInFlight> batches[1];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      batches[0].values[k] = ToCompute(elements[(row + k * step) * pitch]);
    }
    accumulator.Add(batches, row, 0, step);
  }
#pragma unroll 1
  for (; row < end; row += step) accumulator.AddElement(elements[row * pitch], row);
}

// Merges the registers of each column's threads; those of row 0 get the results. Ends with a
// barrier, after which the words of all threads can be read. Called by all threads.
template <class Registers>
__device__ inline void MergeRows(const cg::thread_block& block, const ColumnLayout& layout,
                                 SharedStates<Registers, ReduceTuning::kBlockThreads>& shared,
                                 Registers& registers) {
  const uint32_t rank = block.thread_rank();
  shared[rank] = registers;
  SyncBlock(block);
#pragma unroll 1
  for (uint32_t half = layout.rows / 2; half > 0; half /= 2) {
    if (layout.row < half) {
      registers.Merge(shared[rank + half * layout.columns]);
      shared[rank] = registers;
    }
    SyncBlock(block);
  }
}

// Word i of a column, over its rows. Called by the threads of row 0.
__device__ inline int64_t SumOfRows(const ColumnLayout& layout, WordColumn words, uint32_t i) {
  int64_t sum = 0;
  for (uint32_t row = 0; row < layout.rows; ++row) {
    sum += (&words[i])[row * layout.columns];
  }
  return sum;
}

// The state of rows `layout.row`, `layout.row` + layout.rows, ... of the splits of a column, its
// long numbers as digits in the thread's words.
template <class T, uint32_t kParts>
__device__ inline RegisterState<T, kParts> MergeSplits(const ReductionState<T, kParts>* partials,
                                                       uint64_t columns, uint64_t splits,
                                                       const ColumnLayout& layout,
                                                       WordColumn words) {
  ReductionState<T, kParts> state;
  for (uint64_t i = layout.row; i < splits; i += layout.rows) state.Merge(partials[i * columns]);
  if constexpr (RegisterState<T, kParts>::kHasWords) {
    MomentWords<T, kParts>::ForEach([&](auto, uint32_t first, auto part) {
      const auto& sum = state.template Part<part()>().sum;
      for (uint32_t limb = 0; limb < sum.kLimbs; ++limb) {
        words[first + 2 * limb] = static_cast<uint32_t>(sum.limbs()[limb]);
        words[first + 2 * limb + 1] = static_cast<int64_t>(sum.limbs()[limb] >> 32);
      }
    });
  }
  return RegisterState<T, kParts>::Of(state);
}

// Whether some of a tile's columns were left to this kernel.
__device__ inline bool IsLeft(const ColumnWork& work, uint64_t columns, uint64_t tile) {
  if (work.left_tiles == nullptr) return true;
  const uint64_t begin = tile << work.tile_columns_log2;
  const uint64_t last = min(begin + (uint64_t{1} << work.tile_columns_log2), columns) - 1;
  for (uint64_t i = begin >> work.left_tile_columns_log2; i <= last >> work.left_tile_columns_log2;
       ++i) {
    if (work.left_tiles[1 + i] != 0) return true;
  }
  return false;
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(ReduceShapeOf<T>(kParts).threads)
    ReduceColumns(const __grid_constant__ ReductionParameters parameters,
                  const __grid_constant__ ColumnWork work) {
  using State = ReductionState<T, kParts>;
  using Registers = RegisterState<T, kParts>;
  __shared__ SharedStates<Registers, ReduceTuning::kBlockThreads> shared;
  __shared__ uint32_t drawn;
  const cg::thread_block block = cg::this_thread_block();
  const ColumnLayout layout = ColumnLayout::Of(
      block.thread_rank(), static_cast<uint32_t>(block.size()), work.tile_columns_log2);
  const uint64_t columns = parameters.group_count;
  const uint64_t rows = parameters.group_size;
  State* const partials = static_cast<State*>(work.partials);
  const WordColumn words = WordsOf(block);
  const auto sum_of_rows = [&](uint32_t i) { return SumOfRows(layout, words, i); };
  ElementAccumulator<T, kParts> accumulator(words, parameters.rules.ignore_nan);

  if constexpr (HasFirstColumns<T>(kParts)) {
    if (work.left_tiles != nullptr && work.left_tiles[0] == 0) return;
  }
  for (uint64_t item = blockIdx.x; item < work.tile_count * work.splits; item += gridDim.x) {
    const uint64_t tile = item % work.tile_count;
    const uint64_t split = item / work.tile_count;
    if constexpr (HasFirstColumns<T>(kParts)) {
      if (!IsLeft(work, columns, tile)) continue;
    }
    const uint64_t column = (tile << work.tile_columns_log2) + layout.column;
    const bool exists = column < columns;
    const bool is_first = exists && layout.row == 0;
    const uint64_t begin = split * work.rows_per_split;
    const uint64_t left = rows - begin;
    const uint64_t end = begin + (left < work.rows_per_split ? left : work.rows_per_split);

    accumulator.Reset();
    if (exists) AddRows(parameters, column, begin + layout.row, end, layout.rows, accumulator);
    Registers registers = accumulator.Close();
    CloseWords<T, kParts>(words, registers);
    MergeRows(block, layout, shared, registers);
    State state;
    if (is_first) state = StateOfWords<T, kParts>(registers, sum_of_rows);
    if (work.splits > 1) {
      if (is_first) partials[split * columns + column] = state;
      if (!IsLastBlock(block, &work.tickets[tile], work.splits, drawn)) continue;
      registers = Registers();
      if (exists) registers = MergeSplits(partials + column, columns, work.splits, layout, words);
      MergeRows(block, layout, shared, registers);
      if (is_first) state = StateOfDigits<T, kParts>(registers, sum_of_rows);
    }
    if (is_first) FinishGroup(parameters, column, rows, state);
    SyncBlock(block);  // Before the words of row 0's columns are used again.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_COLUMNS_CUH_
