// Warps share out the samples of an array with their weights, as TurnRange does without: beside a
// vector of samples there are its weights, whatever their size.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_TURNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_TURNS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/histogram/place/turns.cuh"

namespace gridfold::kernels::cuda {

struct VectorPair {
  uint4 of[2];
};

// The weights of a vector of samples, of so many bytes together.
template <uint32_t kBytes>
using WeightVector = std::conditional_t<
    kBytes == 32, VectorPair,
    std::conditional_t<kBytes == 16, uint4, std::conditional_t<kBytes == 8, uint2, uint32_t>>>;

// The bits of weight j of type W.
template <class W>
__device__ inline uint64_t WeightBits(const VectorPair& weights, uint32_t j) {
  return SampleOf<uint64_t>(j < 2 ? weights.of[0] : weights.of[1], j % 2);
}
template <class W>
__device__ inline uint32_t WeightBits(const uint4& weights, uint32_t j) {
  return SampleOf<uint32_t>(weights, j);
}
template <class W>
__device__ inline uint32_t WeightBits(const uint2& weights, uint32_t j) {
  return SampleOf<uint16_t>(uint4{weights.x, weights.y, 0, 0}, j);
}
template <class W>
__device__ inline uint32_t WeightBits(uint32_t weights, uint32_t j) {
  return SampleOf<uint8_t>(uint4{weights, 0, 0, 0}, j);
}

// Samples of type T and weights of type W, of which whole vectors begin at the same samples.
template <class T, class W>
struct WeightedTurnRange : TurnRange<T, 1, sizeof(W) >= 4 ? 1 : 3> {
  using Base = TurnRange<T, 1, sizeof(W) >= 4 ? 1 : 3>;
  using Weights = WeightVector<kVectorSamples<T> * sizeof(W)>;
  struct Row {
    VectorRow<1> samples;
    Weights weights;
  };

  const Weights* weights;  // Of the vectors of samples from `vectors` on.

  __device__ WeightedTurnRange(const void* sample_array, const void* weight_array,
                               uint64_t array_samples, const BlockShare& block)
      : Base(sample_array, nullptr, array_samples, block),
        weights(reinterpret_cast<const Weights*>(static_cast<const W*>(weight_array) + this->head) +
                (this->vectors - reinterpret_cast<const uint4*>(this->samples + this->head))) {}

  __device__ Row Load(const uint4* first, uint32_t k) const {
    return {Base::Load(first, k), weights[(first - this->vectors) + k * kWarpLanes]};
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_TURNS_CUH_
