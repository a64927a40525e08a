// Device code of kernel_benchmark. Plain C++. All grids stride, so any number of blocks will do;
// blocks have kBenchmarkThreads threads.
#ifndef GRIDFOLD_KERNELS_CUDA_KERNEL_BENCHMARK_DEVICE_H_
#define GRIDFOLD_KERNELS_CUDA_KERNEL_BENCHMARK_DEVICE_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kBenchmarkThreads = 256;

struct BenchmarkKernels {
  // Reads `words` 16-byte words and writes next to nothing: the rate that no reduction can exceed.
  void (*read)(const void* input, uint64_t words, uint32_t* output);
  // Fills with 32-bit words of a hash of their place.
  void (*fill_bits)(uint32_t* output, uint64_t words);
  // Fills with floats and doubles of [0, 1).
  void (*fill_float)(float* output, uint64_t count);
  void (*fill_double)(double* output, uint64_t count);
};

BenchmarkKernels GetBenchmarkKernels();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_KERNEL_BENCHMARK_DEVICE_H_
