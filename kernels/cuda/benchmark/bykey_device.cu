#include "kernels/cuda/benchmark/bykey_device.h"
#include "kernels/cuda/benchmark/device.h"

namespace gridfold::kernels::cuda {

namespace {

// SplitMix64 of a place.
__device__ uint64_t HashOf(uint64_t i) {
  uint64_t x = (i + 1) * 0x9E37'79B9'7F4A'7C15u;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9u;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBu;
  return x ^ (x >> 31);
}

__global__ void __launch_bounds__(kBenchmarkThreads)
    FillKeys(int32_t* const keys, const uint64_t count, const KeyData data,
             const uint32_t key_count) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint64_t bits = HashOf(i);
    uint64_t key = bits % key_count;
    if (data == KeyData::kSorted) {
      key = i * key_count / count;
    } else if (data == KeyData::kPowerLaw) {
      const double uniform = static_cast<double>((bits >> 11) + 1) * 0x1p-53;
      const double drawn = 1 / uniform;
      key = drawn < key_count ? static_cast<uint64_t>(drawn) : key_count - 1;
    }
    keys[i] = static_cast<int32_t>(key);
  }
}

}  // namespace

FillKeysKernel GetFillKeysKernel() { return FillKeys; }

}  // namespace gridfold::kernels::cuda
