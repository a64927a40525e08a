// Counters of a histogram and how samples are added to them: the only code that knows what a
// counter is. Sums of weights are plain float64 additions, in the order in which they happen.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNTERS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNTERS_CUH_

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdint>

#include "kernels/cuda/histogram_arguments.h"
#include "kernels/cuda/histogram_sampler.cuh"

namespace gridfold::kernels::cuda {

// Threads of a warp that add to the same counter now.
__device__ inline cooperative_groups::coalesced_group SameCounter(uint64_t counter) {
  return cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(),
                                               static_cast<unsigned long long>(counter));
}

// Samples. Private counters have 32 bits and are added up before they can overflow.
struct CountAdder {
  using Private = uint32_t;
  using Total = unsigned long long;

  // The hardware joins additions of 1 to one word of shared memory by itself.
  __device__ static void AddSample(Private* counters, uint64_t counter, const HistogramArguments&,
                                   uint64_t) {
    atomicAdd(&counters[counter], 1u);
  }
  __device__ static void AddSample(Total* counters, uint64_t counter, const HistogramArguments&,
                                   uint64_t) {
    const auto group = SameCounter(counter);
    if (group.thread_rank() == 0) {
      atomicAdd(&counters[counter], static_cast<Total>(group.num_threads()));
    }
  }
};

template <class W>
__device__ double LoadAsDouble(const void* data, uint64_t i) {
  return static_cast<double>(static_cast<const W*>(data)[i]);
}

// Element i of an array of any element type. A call, so that the loads of all types are not
// repeated in every kernel.
static __device__ __noinline__ double LoadWeight(const void* data, ElementType type, uint64_t i) {
  switch (type) {
    case ElementType::kInt8: return LoadAsDouble<int8_t>(data, i);
    case ElementType::kInt16: return LoadAsDouble<int16_t>(data, i);
    case ElementType::kInt32: return LoadAsDouble<int32_t>(data, i);
    case ElementType::kInt64: return LoadAsDouble<int64_t>(data, i);
    case ElementType::kUint8: return LoadAsDouble<uint8_t>(data, i);
    case ElementType::kUint16: return LoadAsDouble<uint16_t>(data, i);
    case ElementType::kUint32: return LoadAsDouble<uint32_t>(data, i);
    case ElementType::kUint64: return LoadAsDouble<uint64_t>(data, i);
    case ElementType::kFloat16: return LoadAsDouble<Float16>(data, i);
    case ElementType::kBfloat16: return LoadAsDouble<Bfloat16>(data, i);
    case ElementType::kFloat32: return LoadAsDouble<float>(data, i);
    case ElementType::kFloat64: break;
  }
  return LoadAsDouble<double>(data, i);
}

// Weights of samples.
struct WeightAdder {
  using Private = double;
  using Total = double;

  __device__ static void AddSample(double* sums, uint64_t counter,
                                   const HistogramArguments& arguments, uint64_t sample) {
    const double weight = LoadWeight(arguments.weights, arguments.weight_type, sample);
    const auto group = SameCounter(counter);
    const double sum =
        cooperative_groups::reduce(group, weight, cooperative_groups::plus<double>());
    if (group.thread_rank() == 0) atomicAdd(&sums[counter], sum);
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNTERS_CUH_
