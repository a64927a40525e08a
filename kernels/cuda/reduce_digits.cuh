// Exact sums of short groups whatever their elements are, by a warp: digits in shared memory, 16
// bits apart, to which lanes add what an element has of them. Integers, so that lanes may add at
// once; and a lane each makes the results of some groups of their digits, at the same time.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_DIGITS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_DIGITS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/cuda/shared_address.cuh"
#include "kernels/numerics/exact_sum.h"

namespace gridfold::kernels::cuda {

// The digits of the sums of kGroups groups of floats, of one warp.
class WarpDigits {
  static constexpr uint32_t kDigitBits = ExactSum<float, 1>::kDigitBits / 2;
  // Odd, so that lanes with a group each meet in no bank.
  static constexpr uint32_t kStride = 2 * ExactSum<float, 1>::kDigits + 1;

 public:
  static constexpr uint32_t kGroups = 8;
  // Groups of more are as fast in words of lanes of their own. Of each element a digit gets less
  // than 2^16.
  static constexpr uint32_t kGroupElementsMax = 512;
  static_assert(kGroupElementsMax <= 1u << 15);

  // Those of the block's warps, in shared memory.
  struct Memory {
    int32_t words[kGroups * kStride];
  };

  __device__ explicit WarpDigits(Memory& memory) : words_(memory.words) {}

  // All lanes, before the first addition; they meet afterwards.
  __device__ void Clear() {
    for (uint32_t i = threadIdx.x % kLanes; i < kGroups * kStride; i += kLanes) words_[i] = 0;
    __syncwarp();
  }

  // Adds an element to group `g`, and returns its flags. Infinities and NaN are nothing but flags.
  __device__ uint32_t Add(uint32_t g, float x) {
    const DecomposedFloat d = Decompose(x);
    if (IsFinite(x)) {
      const uint32_t first = SharedAddress(words_ + g * kStride + d.position / kDigitBits);
      const uint64_t shifted = d.significand << (d.position % kDigitBits);
#pragma unroll
      for (uint32_t i = 0; i < kDigitsOfElement; ++i) {
        const int32_t digit = static_cast<int32_t>(shifted >> (i * kDigitBits) & kDigitMask);
        if (digit != 0) AddAt(first + i * uint32_t{sizeof(int32_t)}, d.negative ? -digit : digit);
      }
    }
    return ExactSumFlagsOf(x);
  }

  // The sum of group `g`, of which `flags` is what the additions returned together. After all lanes
  // have met.
  __device__ void AddTo(uint32_t g, uint32_t flags, ExactSum<float, 1>& sum) const {
    const int32_t* const first = words_ + g * kStride;
    sum.AddFlags(flags);
    sum.AddDigits([&](int i) {
      return first[2 * i] + (static_cast<int64_t>(first[2 * i + 1]) << kDigitBits);
    });
  }

 private:
  static constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  static constexpr uint64_t kDigitMask = (1u << kDigitBits) - 1;
  static constexpr uint32_t kDigitsOfElement = 3;

  __device__ static void AddAt(uint32_t address, int32_t digit) {
    asm volatile("red.shared.add.s32 [%0], %1;" ::"r"(address), "r"(digit) : "memory");
  }

  int32_t* const words_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_DIGITS_CUH_
