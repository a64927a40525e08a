// CUB's sum, the yardstick of exact_sum_benchmark.cc. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_EXACT_SUM_BENCHMARK_DEVICE_H_
#define GRIDFOLD_KERNELS_CUDA_EXACT_SUM_BENCHMARK_DEVICE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace gridfold::kernels::cuda {

// cub::DeviceReduce::Sum of floats or doubles. With null `scratch`, only sets scratch_bytes.
template <class T>
cudaError_t CubSum(void* scratch, size_t& scratch_bytes, const T* input, T* output, uint64_t count,
                   cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_EXACT_SUM_BENCHMARK_DEVICE_H_
