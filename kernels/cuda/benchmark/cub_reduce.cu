#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/functional>
#include <type_traits>

#include "kernels/cuda/benchmark/cub.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

template <class T>
CubCall Sum(const T* input, uint64_t count, void* output) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    return cub::DeviceReduce::Reduce(scratch, bytes, input, static_cast<Accumulator<T>*>(output),
                                     count, ::cuda::std::plus<>{}, Accumulator<T>{}, stream);
  };
}

// One call after the other, with one scratch.
template <class... Calls>
CubCall InTurn(Calls... calls) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    size_t bytes_max = 0;
    const auto run = [&](const auto& call) {
      size_t own_bytes = bytes;
      if (error == cudaSuccess) error = call(scratch, own_bytes, stream);
      bytes_max = std::max(bytes_max, own_bytes);
    };
    (run(calls), ...);
    if (scratch == nullptr) bytes = bytes_max;
    return error;
  };
}

template <class T>
CubCall Extremes(const T* input, uint64_t count, void* output) {
  T* const value = static_cast<T*>(output);
  int64_t* const index = static_cast<int64_t*>(output) + 1;
  return InTurn(
      [=](void* scratch, size_t& bytes, cudaStream_t stream) {
        return cub::DeviceReduce::Min(scratch, bytes, input, value, count, stream);
      },
      [=](void* scratch, size_t& bytes, cudaStream_t stream) {
        return cub::DeviceReduce::ArgMax(scratch, bytes, input, value, index,
                                         static_cast<int64_t>(count), stream);
      });
}

struct Square {
  __device__ float operator()(float x) const { return x * x; }
};

struct Multiple {
  int64_t factor;
  __device__ int64_t operator()(int64_t i) const { return i * factor; }
};

CubCall Moments(const float* input, uint64_t count, void* output) {
  float* const value = static_cast<float*>(output);
  return InTurn(
      Sum(input, count, output),
      [=](void* scratch, size_t& bytes, cudaStream_t stream) {
        return cub::DeviceReduce::Min(scratch, bytes, input, value, count, stream);
      },
      [=](void* scratch, size_t& bytes, cudaStream_t stream) {
        return cub::DeviceReduce::Max(scratch, bytes, input, value, count, stream);
      },
      [=](void* scratch, size_t& bytes, cudaStream_t stream) {
        return cub::DeviceReduce::TransformReduce(scratch, bytes, input, value, count,
                                                  ::cuda::std::plus<>{}, Square{}, 0.0F, stream);
      });
}

}  // namespace

CubCall CubReduce(CubReduction reduction, ElementType type, const void* input, uint64_t count,
                  void* output) {
  return VisitElementType(type, [&](auto tag) -> CubCall {
    using T = typename decltype(tag)::type;
    if constexpr (HalfElement<T> || std::is_unsigned_v<T>) {
      return nullptr;
    } else {
      const T* const elements = static_cast<const T*>(input);
      if (reduction == CubReduction::kSum) return Sum(elements, count, output);
      if (reduction == CubReduction::kExtremes) return Extremes(elements, count, output);
      if constexpr (std::is_same_v<T, float>) return Moments(elements, count, output);
      return nullptr;
    }
  });
}

CubCall CubRowSum(const float* input, uint64_t row_count, uint64_t row_size, float* output) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    const auto offsets = thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t{0}),
                                                         Multiple{static_cast<int64_t>(row_size)});
    return cub::DeviceSegmentedReduce::Sum(scratch, bytes, input, output,
                                           static_cast<int64_t>(row_count), offsets, offsets + 1,
                                           stream);
  };
}

CubCall CubSegmentedSum(const float* input, const uint64_t* offsets, uint64_t segment_count,
                        float* output) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSegmentedReduce::Sum(scratch, bytes, input, output,
                                           static_cast<int64_t>(segment_count), offsets,
                                           offsets + 1, stream);
  };
}

}  // namespace gridfold::kernels::cuda
