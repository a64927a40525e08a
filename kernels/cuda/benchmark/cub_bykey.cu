#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include "kernels/cuda/benchmark/cub.h"

namespace gridfold::kernels::cuda {

CubCall CubSumByKey(const int32_t* keys, const float* values, uint64_t count, bool is_sorted,
                    void* work) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    auto* const sorted_keys = static_cast<int32_t*>(work);
    auto* const sorted_values = reinterpret_cast<float*>(sorted_keys + count);
    auto* const unique_keys = reinterpret_cast<int32_t*>(sorted_values + count);
    auto* const sums = reinterpret_cast<float*>(unique_keys + count);
    auto* const unique_count = reinterpret_cast<uint64_t*>(sums + count);
    const int32_t* const from_keys = is_sorted ? keys : sorted_keys;
    const float* const from_values = is_sorted ? values : sorted_values;
    size_t sort_bytes = bytes;
    if (!is_sorted) {
      const cudaError_t error = cub::DeviceRadixSort::SortPairs(
          scratch, sort_bytes, keys, sorted_keys, values, sorted_values, count, 0, 32, stream);
      if (error != cudaSuccess) return error;
    }
    size_t reduce_bytes = bytes;
    const cudaError_t error =
        cub::DeviceReduce::ReduceByKey(scratch, reduce_bytes, from_keys, unique_keys, from_values,
                                       sums, unique_count, ::cuda::std::plus<>{}, count, stream);
    if (scratch == nullptr) bytes = std::max(is_sorted ? size_t{0} : sort_bytes, reduce_bytes);
    return error;
  };
}

}  // namespace gridfold::kernels::cuda
