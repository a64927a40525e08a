// The kernels of scans along axis 0: every column by chunks of rows, in three passes.
//
// A thread takes one column of one chunk, its neighbour the next column, so rows are read and
// written by whole lines where there are enough columns.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_

#include <cstdint>

#include "kernels/cuda/scan_output.cuh"
#include "kernels/numerics/scan_operator.h"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels::cuda {

// Rows of a chunk or carries whose loads are in flight together.
inline constexpr int kColumnScanUnroll = 8;

// The logical rows of a chunk, and where they stand in memory.
class ChunkRows {
 public:
  __device__ ChunkRows(const ScanArguments& arguments, const ColumnScanShape& shape, uint64_t chunk,
                       uint64_t chunk_rows = kScanChunkRows)
      : arguments_(arguments),
        shape_(shape),
        begin_(chunk * chunk_rows),
        size_(static_cast<int>(min(shape.rows - begin_, chunk_rows))) {}

  __device__ int size() const { return size_; }
  __device__ bool IsFirst(int k) const { return begin_ + k == 0; }
  __device__ uint64_t ElementAt(int k, uint64_t column) const {
    const uint64_t row = begin_ + k;
    return (arguments_.reverse ? shape_.rows - 1 - row : row) * shape_.columns + column;
  }

 private:
  const ScanArguments& arguments_;
  const ColumnScanShape& shape_;
  const uint64_t begin_;
  const int size_;
};

// Calls f(i) for i from this thread's number in steps of the grid's size.
template <class F>
__device__ void GridStride(uint64_t count, F&& f) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) f(i);
}

// carries[chunk][column] = the last running value of the chunk.
template <class T, ScanOperation kOperation>
__global__ void __launch_bounds__(kColumnScanThreads)
    TotalChunks(const ScanArguments arguments, const ColumnScanShape shape) {
  using Operator = ScanOperator<T, kOperation>;
  const T* const input = static_cast<const T*>(arguments.input);
  auto* const carries = static_cast<typename Operator::Value*>(shape.carries);
  GridStride(shape.chunk_count * shape.columns, [&](uint64_t i) {
    const ChunkRows rows(arguments, shape, i / shape.columns);
    const uint64_t column = i % shape.columns;
    typename Operator::Value running = Operator::Identity();
#pragma unroll kColumnScanUnroll
    for (int k = 0; k < rows.size(); ++k) {
      running = Operator::Combine(
          running, Operator::Lift(input[rows.ElementAt(k, column)], arguments.ignore_nan));
    }
    carries[i] = running;
  });
}

// Turns the chunks' totals into what precedes each chunk, one thread a column.
template <class T, ScanOperation kOperation>
__global__ void __launch_bounds__(kColumnScanThreads)
    CarryChunks(const ScanArguments, const ColumnScanShape shape) {
  using Operator = ScanOperator<T, kOperation>;
  using Value = typename Operator::Value;
  auto* const carries = static_cast<Value*>(shape.carries);
  GridStride(shape.columns, [&](uint64_t column) {
    Value carry = Operator::Identity();
    for (uint64_t begin = 0; begin < shape.chunk_count; begin += kColumnScanUnroll) {
      const int size =
          static_cast<int>(min(shape.chunk_count - begin, uint64_t{kColumnScanUnroll}));
      Value totals[kColumnScanUnroll];
#pragma unroll
      for (int c = 0; c < kColumnScanUnroll; ++c) {
        if (c < size) totals[c] = carries[(begin + c) * shape.columns + column];
      }
#pragma unroll
      for (int c = 0; c < kColumnScanUnroll; ++c) {
        if (c >= size) break;
        carries[(begin + c) * shape.columns + column] = carry;
        carry = Operator::Combine(carry, totals[c]);
      }
    }
  });
}

// Writes one chunk of one column. Returns whether all results fit.
template <class Operator, class Out, class T>
__device__ bool WriteChunk(const ScanArguments& arguments, const ChunkRows& rows, uint64_t column,
                           const typename Operator::Value& carry) {
  // Input and output do not overlap: loads may run ahead of stores.
  const T* const __restrict__ input = static_cast<const T*>(arguments.input);
  Out* const __restrict__ output = static_cast<Out*>(arguments.output);
  typename Operator::Value running = Operator::Identity();
  bool fits = true;
#pragma unroll kColumnScanUnroll
  for (int k = 0; k < rows.size(); ++k) {
    const uint64_t element = rows.ElementAt(k, column);
    const typename Operator::Value before = running;
    running = Operator::Combine(running, Operator::Lift(input[element], arguments.ignore_nan));
    typename Operator::Value result =
        Operator::Combine(carry, arguments.exclusive ? before : running);
    if (arguments.exclusive && rows.IsFirst(k)) result = Operator::EmptyResult();
    fits &= Operator::Store(result, arguments.wrap, &output[element]);
  }
  return fits;
}

template <class T, ScanOperation kOperation>
__global__ void __launch_bounds__(kColumnScanThreads)
    ScanColumns(const ScanArguments arguments, const ColumnScanShape shape) {
  using Operator = ScanOperator<T, kOperation>;
  using Value = typename Operator::Value;
  const Value* const carries = static_cast<const Value*>(shape.carries);
  GridStride(shape.chunk_count * shape.columns, [&](uint64_t i) {
    const ChunkRows rows(arguments, shape, i / shape.columns);
    const uint64_t column = i % shape.columns;
    const Value carry = carries == nullptr ? Operator::Identity() : carries[i];
    VisitOutput<T, kOperation>(arguments.accumulator_output, [&](auto tag) {
      if (!WriteChunk<Operator, typename decltype(tag)::type, T>(arguments, rows, column, carry)) {
        ReportOverflow(arguments);
      }
    });
  });
}

template <ScanOperation kOperation>
ColumnScanKernels FindColumnScanKernels(ElementType type) {
  return VisitElementType(type, [](auto tag) -> ColumnScanKernels {
    using T = typename decltype(tag)::type;
    return {TotalChunks<T, kOperation>, CarryChunks<T, kOperation>, ScanColumns<T, kOperation>};
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_
