// Keys for benchmarks, made on the device. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_BENCHMARK_BYKEY_DEVICE_H_
#define GRIDFOLD_KERNELS_CUDA_BENCHMARK_BYKEY_DEVICE_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

enum class KeyData : uint8_t {
  kUniform,   // Of [0, key_count).
  kSorted,    // Runs of count / key_count.
  kPowerLaw,  // Key k about as often as 1 / k^2.
};

// Grids stride; blocks have kBenchmarkThreads threads.
using FillKeysKernel = void (*)(int32_t* keys, uint64_t count, KeyData data, uint32_t key_count);
FillKeysKernel GetFillKeysKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BENCHMARK_BYKEY_DEVICE_H_
