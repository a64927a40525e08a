// The kernel of scans along axis 0 of no more rows than a run of numerics/scan_tree.h: nothing
// precedes it, and a thread goes down the rows, in as many columns as make a vector of 16 bytes.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_FEW_ROWS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_FEW_ROWS_CUH_

#include <cstdint>

#include "kernels/cuda/scan_column_kernels.h"
#include "kernels/cuda/scan_output.cuh"
#include "kernels/numerics/scan_operator.h"

namespace gridfold::kernels::cuda {

// Columns of a thread where rows are read by vectors.
template <class T, class Out>
inline constexpr int kFewRowsVector = 16 / (sizeof(T) > sizeof(Out) ? sizeof(T) : sizeof(Out));

// Rows whose loads are in flight together.
constexpr uint32_t FewRowsBatch(uint64_t row_bytes) { return row_bytes >= 16 ? 4 : 8; }

template <class V, int kCount>
struct alignas(sizeof(V) * kCount) FewRowsVector {
  V items[kCount];
};

// Scans kCount columns from `column` on. Returns whether all results fit.
template <class Operator, class Out, int kCount, class T>
__device__ bool ScanDown(const ScanArguments& arguments, const FewRowsShape& shape,
                         uint64_t column) {
  using Items = FewRowsVector<T, kCount>;
  using Results = FewRowsVector<Out, kCount>;
  constexpr uint32_t kRows = FewRowsBatch(sizeof(Items));
  const auto columns = static_cast<int64_t>(shape.columns);
  const int64_t pitch = arguments.reverse ? -columns : columns;
  const uint64_t first = (arguments.reverse ? shape.rows - 1 : 0) * shape.columns + column;
  const T* const input = static_cast<const T*>(arguments.input) + first;
  Out* const output = static_cast<Out*>(arguments.output) + first;
  typename Operator::Value running[kCount];
  for (auto& value : running) value = Operator::Identity();
  bool fits = true;
  for (uint32_t begin = 0; begin < shape.rows; begin += kRows) {
    Items rows[kRows];
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) {
      if (begin + k < shape.rows) {
        rows[k] = *reinterpret_cast<const Items*>(input + (begin + k) * pitch);
      }
    }
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) {
      if (begin + k >= shape.rows) break;
      const bool is_empty = arguments.exclusive && begin + k == 0;
      Results results;
#pragma unroll
      for (int c = 0; c < kCount; ++c) {
        const auto before = running[c];
        running[c] =
            Operator::Combine(before, Operator::Lift(rows[k].items[c], arguments.ignore_nan));
        auto result = arguments.exclusive ? before : running[c];
        if (is_empty) result = Operator::EmptyResult();
        fits &= Operator::Store(result, arguments.wrap, &results.items[c]);
      }
      *reinterpret_cast<Results*>(output + (begin + k) * pitch) = results;
    }
  }
  return fits;
}

template <class T, ScanOperation kOperation, class Out>
__global__ void __launch_bounds__(kFewRowsThreads)
    ScanFewRows(const ScanArguments arguments, const FewRowsShape shape) {
  using Operator = ScanOperator<T, kOperation>;
  constexpr int kVector = kFewRowsVector<T, Out>;
  const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint64_t column = shape.is_in_vectors ? thread * kVector : thread;
  if (column >= shape.columns) return;
  const bool fits = shape.is_in_vectors
                        ? ScanDown<Operator, Out, kVector, T>(arguments, shape, column)
                        : ScanDown<Operator, Out, 1, T>(arguments, shape, column);
  if (!fits) ReportOverflow(arguments);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_FEW_ROWS_CUH_
