// A block looks at some samples and weights from everywhere before it sums weights.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_SURVEY_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_SURVEY_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/numerics/bins/guess.h"

namespace gridfold::kernels::cuda {

// The sample that a thread surveys, if there are as many.
__device__ inline uint64_t SurveyedSample(const HistogramArguments& arguments) {
  return static_cast<uint64_t>(static_cast<double>(threadIdx.x) / blockDim.x *
                               static_cast<double>(arguments.sample_count));
}

// The upper 32 bits, without the sign, of the largest of some finite weights, of which Bits are
// those of a float or a double. All threads of the block; `largest` is a word of its shared memory.
template <class Bits>
__device__ inline uint32_t LargestOfSome(const HistogramArguments& arguments, uint32_t* largest) {
  constexpr uint32_t kInfinityBits = sizeof(Bits) == 4 ? 0x7F80'0000 : 0x7FF0'0000;
  constexpr uint32_t kOneBits = sizeof(Bits) == 4 ? 0x3F80'0000 : 0x3FF0'0000;
  constexpr uint32_t kLowerBits = 8 * sizeof(Bits) - 32;
  if (threadIdx.x == 0) *largest = 0;
  __syncthreads();
  if (threadIdx.x < arguments.sample_count) {
    const Bits weight = static_cast<const Bits*>(arguments.weights)[SurveyedSample(arguments)];
    const uint32_t bits = static_cast<uint32_t>(weight >> kLowerBits) & 0x7FFF'FFFF;
    if (bits < kInfinityBits) atomicMax(largest, bits);
  }
  __syncthreads();
  if (threadIdx.x == 0 && *largest == 0) *largest = kOneBits;  // As likely as others.
  __syncthreads();
  return *largest;
}

inline constexpr uint32_t kNoFrequentSum = ~uint32_t{0};

// Which of the block's `sum_count` sums most of the threads name, if they are so many that lanes of
// a warp would wait for each other there; else kNoFrequentSum. Threads may name one that is none.
// All threads of the block, whose shared memory `counts`, of a word for each sum, and `most` are;
// needs a barrier after.
__device__ inline uint32_t FrequentSumOf(uint32_t sum, uint32_t sum_count, uint32_t* counts,
                                         uint32_t* most) {
  constexpr uint32_t kShareMin = 32;  // One sample of a warp's.
  constexpr uint32_t kSumBits = 16;   // More words than a block has memory for.
  for (uint32_t i = threadIdx.x; i < sum_count; i += blockDim.x) counts[i] = 0;
  if (threadIdx.x == 0) *most = 0;
  __syncthreads();
  if (sum < sum_count) {
    const uint32_t count = atomicAdd(&counts[sum], 1) + 1;
    if (count * kShareMin > blockDim.x) atomicMax(most, count << kSumBits | sum);
  }
  __syncthreads();
  return *most == 0 ? kNoFrequentSum : *most & ((uint32_t{1} << kSumBits) - 1);
}

// The sum of the block that a sample of SurveyedSample is in; or none.
template <class T>
__device__ inline uint32_t SurveyedSum(const HistogramArguments& arguments, const BinRange& bins) {
  if (threadIdx.x >= arguments.sample_count) return kNoFrequentSum;
  const BinGuesser& guesser = arguments.guesses[0].guesser;
  const BinGuess guess =
      GuessBin(guesser, static_cast<const T*>(arguments.samples)[SurveyedSample(arguments)]);
  return IsSure(guesser, guess) ? guess.bin - bins.first : kNoFrequentSum;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_SURVEY_CUH_
