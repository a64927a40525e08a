#include <math_constants.h>

#include "kernels/cuda/benchmark/histogram_device.h"

namespace gridfold::kernels::cuda {

namespace {

// Of one sample in twenty, without order.
__device__ bool IsOneOfSome(uint64_t i) { return (i * 0x9E37'79B9'7F4A'7C15 >> 40) % 20 == 0; }

__device__ float Distribute(float u, uint64_t i, uint64_t count, Distribution distribution) {
  switch (distribution) {
    case Distribution::kUniform: return u;
    case Distribution::kConstant: return 0.37F;
    case Distribution::kSkewed: return (u * u * u) * (u * u * u);
    case Distribution::kSomeNan: return IsOneOfSome(i) ? CUDART_NAN_F : u;
    case Distribution::kSomeOne: return IsOneOfSome(i) ? 1 : u;
    case Distribution::kSorted: break;
  }
  return static_cast<float>(static_cast<double>(i) / static_cast<double>(count));
}

__global__ void DistributeAll(float* samples, uint64_t count, Distribution distribution,
                              bool as_integers) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const float x = Distribute(samples[i], i, count, distribution);
    samples[i] = as_integers ? __int_as_float(static_cast<int32_t>(x * kIntegerRange)) : x;
  }
}

}  // namespace

DistributeKernel FindDistributeKernel() { return DistributeAll; }

}  // namespace gridfold::kernels::cuda
