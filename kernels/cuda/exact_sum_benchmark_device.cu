#include <cub/device/device_reduce.cuh>

#include "kernels/cuda/exact_sum_benchmark_device.h"

namespace gridfold::kernels::cuda {

template <class T>
cudaError_t CubSum(void* scratch, size_t& scratch_bytes, const T* input, T* output, uint64_t count,
                   cudaStream_t stream) {
  return cub::DeviceReduce::Sum(scratch, scratch_bytes, input, output, count, stream);
}
template cudaError_t CubSum<float>(void*, size_t&, const float*, float*, uint64_t, cudaStream_t);
template cudaError_t CubSum<double>(void*, size_t&, const double*, double*, uint64_t, cudaStream_t);

}  // namespace gridfold::kernels::cuda
