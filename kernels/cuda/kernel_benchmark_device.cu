#include "kernels/cuda/kernel_benchmark_device.h"

namespace gridfold::kernels::cuda {

namespace {

__device__ uint64_t FirstItem() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ uint64_t ItemStep() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
__device__ uint64_t Hash(uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15u;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9u;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBu;
  return x ^ (x >> 31);
}

__global__ void __launch_bounds__(kBenchmarkThreads)
    Read(const void* input, uint64_t words, uint32_t* output) {
  constexpr uint32_t kInFlight = 4;
  const uint4* const vectors = static_cast<const uint4*>(input);
  const uint64_t step = ItemStep();
  uint32_t bits = 0;
  uint64_t i = FirstItem();
  for (; i + (kInFlight - 1) * step < words; i += kInFlight * step) {
    uint4 loaded[kInFlight];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) loaded[k] = vectors[i + k * step];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      bits ^= loaded[k].x ^ loaded[k].y ^ loaded[k].z ^ loaded[k].w;
    }
  }
  for (; i < words; i += step) bits ^= vectors[i].x ^ vectors[i].y ^ vectors[i].z ^ vectors[i].w;
  // A write that the compiler cannot leave out and that hardly ever happens.
  if (bits == 0x1234'5678u) *output = bits;
}

__global__ void FillBits(uint32_t* output, uint64_t words) {
  for (uint64_t i = FirstItem(); i < words; i += ItemStep()) {
    output[i] = static_cast<uint32_t>(Hash(i));
  }
}

__global__ void FillFloat(float* output, uint64_t count) {
  for (uint64_t i = FirstItem(); i < count; i += ItemStep()) {
    output[i] = static_cast<float>(Hash(i) >> 40) * 0x1p-24f;
  }
}

__global__ void FillDouble(double* output, uint64_t count) {
  for (uint64_t i = FirstItem(); i < count; i += ItemStep()) {
    output[i] = static_cast<double>(Hash(i) >> 11) * 0x1p-53;
  }
}

}  // namespace

BenchmarkKernels GetBenchmarkKernels() { return {Read, FillBits, FillFloat, FillDouble}; }

}  // namespace gridfold::kernels::cuda
