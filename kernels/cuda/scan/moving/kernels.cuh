// All kernels of moving scans for one element type.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_KERNELS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_KERNELS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan/base/output.cuh"
#include "kernels/cuda/scan/moving/kernels.h"

namespace gridfold::kernels::cuda {

// Calls f(line, chunk) for this thread's chunks.
template <class F>
__device__ void ForEachMovingChunk(const MovingShape& shape, F&& f) {
  const uint64_t count = shape.chunk_count() * shape.line_count;
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    f(i % shape.line_count, i / shape.line_count);
  }
}

template <class T>
__global__ void __launch_bounds__(kMovingThreads)
    TotalMovingChunks(const MovingArguments arguments) {
  const T* const input = static_cast<const T*>(arguments.input);
  ForEachMovingChunk(arguments.shape, [&](uint64_t line, uint64_t chunk) {
    TotalMovingChunk<T>(
        arguments.shape, arguments.rules, line, chunk, [&](uint64_t i) { return input[i]; },
        arguments.words);
  });
}

template <class T, class Out>
__global__ void __launch_bounds__(kMovingThreads)
    ScanMovingChunks(const MovingArguments arguments) {
  const T* const input = static_cast<const T*>(arguments.input);
  Out* const output = static_cast<Out*>(arguments.output);
  ForEachMovingChunk(arguments.shape, [&](uint64_t line, uint64_t chunk) {
    const bool fits = ScanMovingChunk<T, Out>(
        arguments.shape, arguments.rules, line, chunk, arguments.words,
        [&](uint64_t i) { return input[i]; }, [&](uint64_t i, Out result) { output[i] = result; });
    if (!fits) ReportOverflow(arguments.overflow_flag);
  });
}

template <class T>
MovingKernels FindMovingKernels(ElementType output_type) {
  MovingKernels kernels{.totals = TotalMovingChunks<T>, .results = ScanMovingChunks<T, T>};
  if (output_type == kElementTypeOf<T>) return kernels;
  kernels.results = ScanMovingChunks<T, double>;
  if constexpr (IntegerElement<T>) {
    if (output_type != ElementType::kFloat64) kernels.results = ScanMovingChunks<T, Accumulator<T>>;
  }
  return kernels;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_MOVING_KERNELS_CUH_
