// Sums of short groups of floating-point elements, straight in double precision.
//
// Elements whose magnitudes lie within some binades of each other, as they nearly always do, have
// partial sums that all fit the 53 bits of a double: then no addition rounds, in whatever order,
// and nothing of what sums of any elements take is needed. Whether that holds is known once the
// elements are read; where it does not, they are read again and summed as others are.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_DIRECT_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_DIRECT_CUH_

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// A sum of floats, and what tells whether it is exact.
class DirectSum {
 public:
  __device__ void Add(float x) {
    const uint32_t magnitude = __float_as_uint(x) & 0x7FFF'FFFFu;
    greatest_ = max(greatest_, magnitude);
    least_ = min(least_, magnitude - 1);  // Zeros, which become the largest number, do not count.
    sum_ += static_cast<double>(x);
  }

  // Joins the sums of each `width` neighbouring lanes, in all of them.
  __device__ void JoinLanes(const Warp& warp, uint32_t width) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      greatest_ = max(greatest_, warp.shfl_xor(greatest_, distance));
      least_ = min(least_, warp.shfl_xor(least_, distance));
      sum_ += warp.shfl_xor(sum_, distance);
    }
  }

  // Whether no sum of some of the `count` elements can need more bits than a double has: from the
  // last bit of the least to the first of `count` times the greatest. Also false where an element
  // is not finite.
  __device__ bool IsExact(uint32_t count) const {
    constexpr int kFloatBits = std::numeric_limits<float>::digits;
    constexpr int kDoubleBits = std::numeric_limits<double>::digits;
    if (greatest_ == 0) return true;
    const int top = ExponentOf(greatest_) + static_cast<int>(std::bit_width(count));
    return greatest_ < __float_as_uint(std::numeric_limits<float>::infinity()) &&
           top - ExponentOf(least_ + 1) + kFloatBits <= kDoubleBits;
  }

  __device__ double sum() const { return sum_; }

 private:
  // Subnormal numbers have the exponent of the smallest normal ones.
  __device__ static int ExponentOf(uint32_t magnitude) {
    const int biased = static_cast<int>(magnitude >> 23);
    return biased == 0 ? 1 : biased;
  }

  double sum_ = -0.0;  // Addition's identity.
  uint32_t greatest_ = 0;
  uint32_t least_ = ~uint32_t{0};
};

// Whether all that is asked for follows from the sum.
__device__ inline bool NeedsOnlySum(const ReductionParameters& parameters) {
  bool only_sum = parameters.states == nullptr;
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    const Statistic statistic = parameters.statistics[i];
    only_sum = only_sum && (statistic == Statistic::kSum || statistic == Statistic::kMean);
  }
  return only_sum;
}

// The share of lane `rank` of `width` in the elements of a group.
template <class T>
__device__ inline DirectSum SumDirectly(const T* elements, uint32_t count, uint32_t rank,
                                        uint32_t width) {
  constexpr uint32_t kInFlight = ReduceTuning::kTileVectorsInFlight;
  constexpr uint32_t kSize = kVectorSize<T>;
  DirectSum sum;
  uint32_t in_vectors = 0;
  if (reinterpret_cast<uintptr_t>(elements) % ReduceTuning::kVectorBytes == 0) {
    const auto* const vectors = reinterpret_cast<const uint4*>(elements);
    const uint32_t vector_count = count / kSize;
    in_vectors = vector_count * kSize;
#pragma unroll 1
    for (uint32_t first = rank; first < vector_count; first += kInFlight * width) {
      uint4 raw[kInFlight];
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        if (first + k * width < vector_count) raw[k] = vectors[first + k * width];
      }
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        if (first + k * width >= vector_count) break;
        const auto batch = BatchOf<T>(raw[k]);
#pragma unroll
        for (uint32_t i = 0; i < kSize; ++i) sum.Add(batch.values[i]);
      }
    }
  }
#pragma unroll 4
  for (uint32_t i = in_vectors + rank; i < count; i += width) sum.Add(ToCompute(elements[i]));
  return sum;
}

// Writes the statistics of a group of `size` elements that NeedsOnlySum.
__device__ inline void FinishDirectly(const ReductionParameters& parameters, uint64_t group,
                                      uint32_t size, double sum) {
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    double value = size == 0 ? 0.0 : sum;
    // An exact sum by an exact count: rounded once.
    if (parameters.statistics[i] == Statistic::kMean) value = __ddiv_rn(value, size);
    parameters.slots[parameters.rows[i] * parameters.group_count + group] =
        static_cast<uint64_t>(__double_as_longlong(value));
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_DIRECT_CUH_
