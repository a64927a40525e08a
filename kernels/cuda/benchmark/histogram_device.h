// Distributions of samples for the benchmark of histograms (histogram.cc). Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_BENCHMARK_HISTOGRAM_DEVICE_H_
#define GRIDFOLD_KERNELS_CUDA_BENCHMARK_HISTOGRAM_DEVICE_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

enum class Distribution : uint8_t { kUniform, kConstant, kSkewed, kSorted, kSomeNan, kSomeOne };

// A grid-stride kernel that makes of uniform samples u of [0, 1): themselves, one number, u^6,
// numbers that increase from 0 to 1, or u but for 5 % that are NaN, or 1; as integers, int32
// samples that are kIntegerRange times that.
inline constexpr float kIntegerRange = 0x1p30F;
using DistributeKernel = void (*)(float* samples, uint64_t count, Distribution distribution,
                                  bool as_integers);
DistributeKernel FindDistributeKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BENCHMARK_HISTOGRAM_DEVICE_H_
