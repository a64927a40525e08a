// The kernels of exact scans along axis 0: a thread takes a chunk of one column, its neighbour the
// next column.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CHUNKS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CHUNKS_CUH_

#include <cstdint>

#include "kernels/cuda/scan/base/output.cuh"
#include "kernels/cuda/scan/exact/kernels.h"
#include "kernels/numerics/scans/exact_run.h"

namespace gridfold::kernels::cuda {

// The logical rows of a chunk, and where they stand in memory.
class ChunkRows {
 public:
  __device__ ChunkRows(const ScanArguments& arguments, const ExactChunks& chunks, uint64_t chunk)
      : arguments_(arguments),
        chunks_(chunks),
        begin_(chunk * kExactChunkRows),
        size_(static_cast<int>(min(chunks.rows - begin_, kExactChunkRows))) {}

  __device__ int size() const { return size_; }
  __device__ bool IsFirst(int k) const { return begin_ + k == 0; }
  __device__ uint64_t ElementAt(int k, uint64_t column) const {
    const uint64_t row = begin_ + k;
    return (arguments_.reverse ? chunks_.rows - 1 - row : row) * chunks_.columns + column;
  }

 private:
  const ScanArguments& arguments_;
  const ExactChunks& chunks_;
  const uint64_t begin_;
  const int size_;
};

// Calls f(i) for i from this thread's number in steps of the grid's size.
template <class F>
__device__ void GridStride(uint64_t count, F&& f) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) f(i);
}

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
__global__ void __launch_bounds__(kExactChunkThreads)
    TotalExactChunks(const ScanArguments arguments, const ExactChunks chunks) {
  const T* const input = static_cast<const T*>(arguments.input);
  auto* const states = static_cast<ExactState<T>*>(chunks.states);
  GridStride(chunks.chunk_count * chunks.columns, [&](uint64_t i) {
    const ChunkRows rows(arguments, chunks, i / chunks.columns);
    PrefixSum<T> sum;
    ForEachBatch(input, rows, i % chunks.columns, [&](int, const T* items, int count) {
      AddRun(items, count, arguments.ignore_nan, sum);
    });
    states[i].sum = sum;
    states[i].starts_group = 0;
  });
}

template <class T>
__global__ void __launch_bounds__(kExactChunkThreads)
    ScanExactChunks(const ScanArguments arguments, const ExactChunks chunks) {
  const T* const input = static_cast<const T*>(arguments.input);
  const auto* const states = static_cast<const ExactState<T>*>(chunks.states);
  GridStride(chunks.chunk_count * chunks.columns, [&](uint64_t i) {
    const ChunkRows rows(arguments, chunks, i / chunks.columns);
    const uint64_t column = i % chunks.columns;
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
