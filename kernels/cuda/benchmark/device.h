// Device code of kernel_benchmark, but for that of single operations. Plain C++. All grids stride,
// so any number of blocks will do; blocks have kBenchmarkThreads threads.
#ifndef GRIDFOLD_KERNELS_CUDA_BENCHMARK_DEVICE_H_
#define GRIDFOLD_KERNELS_CUDA_BENCHMARK_DEVICE_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kBenchmarkThreads = 256;

// What an array of floating-point elements holds. Exact sums must cost the same on all of it.
enum class BenchmarkData : uint8_t {
  kUniform,   // Of [0, 1).
  kNormal,    // Standard normal.
  kSorted,    // A ramp from 0 to 1.
  kDrifting,  // Around levels that change by powers of two every 2^20 elements.
  kSpread,    // Of [-1, 1), times 2^k with k uniform in [-60, 60]: in [-12, 12] for float16.
  kAnyBits,   // Finite numbers of any bits.
};
inline constexpr BenchmarkData kBenchmarkDataSets[] = {
    BenchmarkData::kUniform,  BenchmarkData::kNormal, BenchmarkData::kSorted,
    BenchmarkData::kDrifting, BenchmarkData::kSpread, BenchmarkData::kAnyBits};

struct BenchmarkKernels {
  // Reads `words` 16-byte words and writes next to nothing: the rate that no reduction can exceed.
  void (*read)(const void* input, uint64_t words, uint32_t* output);
  // Takes so long, by one thread, while what comes behind it is enqueued.
  void (*hold)(uint64_t nanoseconds);
  // Fills with 32-bit words of a hash of their place.
  void (*fill_bits)(uint32_t* output, uint64_t words);
};

BenchmarkKernels GetBenchmarkKernels();

// Fills with `count` floating-point elements of the type T.
template <class T>
using FillKernel = void (*)(T* output, uint64_t count, BenchmarkData data);
template <class T>
FillKernel<T> GetFillKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BENCHMARK_DEVICE_H_
