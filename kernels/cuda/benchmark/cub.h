// CUB's answers to what kernel_benchmark measures: the yardstick. Plain C++.
//
// A call that there is none of is empty: CUB has nothing for axis 0, half precision is left out,
// and so are unsigned integers, which take as long as signed ones. Results go to device memory and
// are not looked at.
#ifndef GRIDFOLD_KERNELS_CUDA_BENCHMARK_CUB_H_
#define GRIDFOLD_KERNELS_CUDA_BENCHMARK_CUB_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/contract/scan.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// With null `scratch`, only sets `scratch_bytes`.
using CubCall = std::function<cudaError_t(void* scratch, size_t& scratch_bytes, cudaStream_t)>;

enum class CubReduction : uint8_t {
  kSum,       // DeviceReduce::Reduce, from 0 of the accumulator's type.
  kExtremes,  // DeviceReduce::Min, then ArgMax.
  kMoments,   // Sum, Min, Max, and the sum of the squares, of float32: four passes.
};

// `output` has room for 16 bytes.
CubCall CubReduce(CubReduction reduction, ElementType type, const void* input, uint64_t count,
                  void* output);

// Sums of float32 segments, one after the other from offsets[0] to offsets[segment_count].
CubCall CubSegmentedSum(const float* input, const uint64_t* offsets, uint64_t segment_count,
                        float* output);

// Sums of the rows of a float32 matrix, by the same function of CUB's.
CubCall CubRowSum(const float* input, uint64_t row_count, uint64_t row_size, float* output);

// Sums of float32 values by int32 keys: a sort of the pairs, unless they are sorted, and
// DeviceReduce::ReduceByKey. `work` has room for four times the keys and 64 bytes more.
CubCall CubSumByKey(const int32_t* keys, const float* values, uint64_t count, bool is_sorted,
                    void* work);

// Forward scans of sums and maxima.
CubCall CubScan(ScanOperation operation, ScanMode mode, ElementType input_type,
                ElementType output_type, const void* input, uint64_t count, void* output);

// Of float32, int32 and uint8 samples, with 32-bit counters. At most 2^31 - 1 samples; one channel,
// or four that take turns.
CubCall CubEvenHistogram(ElementType type, const void* samples, uint64_t sample_count,
                         uint32_t bin_count, double lower, double upper, uint32_t channel_count,
                         uint32_t* counts);

// Of float32 samples.
CubCall CubEdgesHistogram(const float* samples, uint64_t sample_count, const float* edges,
                          uint32_t bin_count, uint32_t* counts);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BENCHMARK_CUB_H_
