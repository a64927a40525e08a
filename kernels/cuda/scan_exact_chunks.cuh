// The kernels of exact scans along axis 0: a thread takes a chunk of one column, its neighbour the
// next column.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CHUNKS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CHUNKS_CUH_

#include <cstdint>

#include "kernels/cuda/scan_columns.cuh"
#include "kernels/cuda/scan_exact_kernels.h"
#include "kernels/cuda/scan_output.cuh"
#include "kernels/numerics/exact_run.h"

namespace gridfold::kernels::cuda {

// Rows that are read at once and make a run.
inline constexpr int kExactBatchRows = 16;

// Calls visit(first row, items, count) for the batches of a chunk of one column.
template <class T, class Visit>
__device__ void ForEachBatch(const T* input, const ChunkRows& rows, uint64_t column,
                             Visit&& visit) {
  for (int first = 0; first < rows.size(); first += kExactBatchRows) {
    const int count = min(rows.size() - first, kExactBatchRows);
    T items[kExactBatchRows];
#pragma unroll
    for (int k = 0; k < kExactBatchRows; ++k) {
      if (k < count) items[k] = input[rows.ElementAt(first + k, column)];
    }
    visit(first, items, count);
  }
}

template <class T>
__global__ void __launch_bounds__(kColumnScanThreads)
    TotalExactChunks(const ScanArguments arguments, const ColumnScanShape shape) {
  const T* const input = static_cast<const T*>(arguments.input);
  auto* const states = static_cast<ExactState<T>*>(shape.carries);
  GridStride(shape.chunk_count * shape.columns, [&](uint64_t i) {
    const ChunkRows rows(arguments, shape, i / shape.columns, kExactChunkRows);
    PrefixSum<T> sum;
    ForEachBatch(input, rows, i % shape.columns, [&](int, const T* items, int count) {
      AddRun(items, count, arguments.ignore_nan, sum);
    });
    states[i].sum = sum;
    states[i].starts_group = 0;
  });
}

template <class T>
__global__ void __launch_bounds__(kColumnScanThreads)
    ScanExactChunks(const ScanArguments arguments, const ColumnScanShape shape) {
  const T* const input = static_cast<const T*>(arguments.input);
  const auto* const states = static_cast<const ExactState<T>*>(shape.carries);
  GridStride(shape.chunk_count * shape.columns, [&](uint64_t i) {
    const ChunkRows rows(arguments, shape, i / shape.columns, kExactChunkRows);
    const uint64_t column = i % shape.columns;
    PrefixSum<T> sum;
    if (states != nullptr) sum = states[i].sum;
    VisitOutput<T, ScanOperation::kSum>(arguments.accumulator_output, [&](auto tag) {
      using Out = typename decltype(tag)::type;
      Out* const output = static_cast<Out*>(arguments.output);
      ForEachBatch(input, rows, column, [&](int first, const T* items, int count) {
        ScanRun<Out>(
            items, count, arguments.ignore_nan, arguments.exclusive, sum, [&](int k, Out prefix) {
              const bool is_empty = arguments.exclusive && rows.IsFirst(first + k);
              output[rows.ElementAt(first + k, column)] = is_empty ? RoundTo<Out>(0) : prefix;
            });
      });
    });
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CHUNKS_CUH_
