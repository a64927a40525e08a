// Axis 0: every column is a group. Neighbouring threads read neighbouring columns of a row; the
// rows are shared out among the rest of the block's threads and, where columns are few, among
// blocks.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_accumulate.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Where a thread stands in its block: threads are laid out as rows of neighbouring columns.
struct ColumnLayout {
  uint32_t columns;  // Of the tile.
  uint32_t rows;     // That the block's threads take at once.
  uint32_t column;
  uint32_t row;

  __device__ static ColumnLayout Of(uint32_t rank, uint32_t columns_log2) {
    const uint32_t columns = 1u << columns_log2;
    return {columns, ReduceTuning::kBlockThreads >> columns_log2, rank & (columns - 1),
            rank >> columns_log2};
  }
};

// Takes rows [begin, end) of a column, every `step`-th of them.
template <class T, uint32_t kParts>
__device__ inline void AddRows(const ReductionParameters& parameters, uint64_t column,
                               uint64_t begin, uint64_t end, uint32_t step,
                               ReductionState<T, kParts>& state) {
  constexpr uint32_t kInFlight = ReduceRowsInFlight(sizeof(T));
  const uint64_t columns = parameters.group_count;
  const T* const elements = static_cast<const T*>(parameters.elements) + column;
  uint64_t row = begin;
  for (; row + (kInFlight - 1) * step < end; row += kInFlight * step) {
    Batch<T, kInFlight> batch;
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      batch.values[k] = elements[(row + k * step) * columns];
    }
    AddBatch(batch, row, step, parameters.rules.ignore_nan, state);
  }
  for (; row < end; row += step) {
    state.Add(elements[row * columns], row, parameters.rules.ignore_nan);
  }
}

// Joins the states of each column's threads; those of row 0 get the results. Called by all threads.
template <class State>
__device__ inline void MergeRows(const cg::thread_block& block, const ColumnLayout& layout,
                                 SharedStates<State, ReduceTuning::kBlockThreads>& states,
                                 State& state) {
  if (layout.rows == 1) return;
  const uint32_t rank = block.thread_rank();
  states[rank] = state;
  block.sync();
#pragma unroll 1
  for (uint32_t half = layout.rows / 2; half > 0; half /= 2) {
    if (layout.row < half) {
      state.Merge(states[rank + half * layout.columns]);
      states[rank] = state;
    }
    block.sync();
  }
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(ReduceTuning::kBlockThreads, ReduceResidentBlocks(kParts))
    ReduceColumns(const __grid_constant__ ReductionParameters parameters,
                  const __grid_constant__ ColumnWork work) {
  using State = ReductionState<T, kParts>;
  __shared__ SharedStates<State, ReduceTuning::kBlockThreads> states;
  __shared__ bool shared_flag;
  const cg::thread_block block = cg::this_thread_block();
  const ColumnLayout layout = ColumnLayout::Of(block.thread_rank(), work.tile_columns_log2);
  const uint64_t columns = parameters.group_count;
  const uint64_t rows = parameters.group_size;
  State* const partials = static_cast<State*>(work.partials);

  for (uint64_t item = blockIdx.x; item < work.tile_count * work.splits; item += gridDim.x) {
    const uint64_t tile = item % work.tile_count;
    const uint64_t split = item / work.tile_count;
    const uint64_t column = (tile << work.tile_columns_log2) + layout.column;
    const bool exists = column < columns;
    const uint64_t begin = split * work.rows_per_split;
    const uint64_t left = rows - begin;
    const uint64_t end = begin + (left < work.rows_per_split ? left : work.rows_per_split);

    State state;
    if (exists) AddRows(parameters, column, begin + layout.row, end, layout.rows, state);
    MergeRows(block, layout, states, state);
    if (work.splits > 1) {
      if (exists && layout.row == 0) partials[split * columns + column] = state;
      if (!IsLastBlock(block, &work.tickets[tile], work.splits, shared_flag)) continue;
      state = State();
      if (exists) {
        for (uint64_t i = layout.row; i < work.splits; i += layout.rows) {
          state.Merge(partials[i * columns + column]);
        }
      }
      MergeRows(block, layout, states, state);
    }
    if (exists && layout.row == 0) FinishGroup(parameters, column, rows, state);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_CUH_
