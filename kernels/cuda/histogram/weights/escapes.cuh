// A block sums what is outside of a window of few words for the first bins that need it.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_ESCAPES_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_ESCAPES_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/weights/words.cuh"

namespace gridfold::kernels::cuda {

class WeightEscapes {
 public:
  // kWeightEscapeWords words of memory; for weights up to the one with these bits, or some more.
  __device__ WeightEscapes(uint32_t* memory, uint32_t largest_bits)
      : window_(WindowFor(largest_bits, kWindowWordsMax)),
        owners_(memory),
        sums_(memory + kWeightEscapes, kWeightEscapes, kWeightEscapesSpare, kWindowWordsMax, 1) {}

  __device__ void Clear() {
    sums_.Clear();
    for (uint32_t i = threadIdx.x; i < kWeightEscapes; i += blockDim.x) owners_[i] = kNoOwner;
  }

  // False where the weight does not fit, or another bin has the sum that it would have.
  __device__ bool Add(uint32_t bin, uint32_t weight_bits) {
    const WindowNumber number = NumberInWindow(weight_bits, window_);
    if (!number.fits) return false;
    const uint32_t i = bin % kWeightEscapes;
    // Mostly the bin has the sum already.
    if (static_cast<const volatile uint32_t&>(owners_[i]) != bin) {
      const uint32_t owner = atomicCAS(&owners_[i], kNoOwner, bin);
      if (owner != kNoOwner && owner != bin) return false;
    }
    sums_.Add(i, number.word, number.value);
    return true;
  }

  // All threads of the block. Bins keep their sums, which are cleared.
  __device__ void Flush(GlobalSums& totals) {
    for (uint32_t i = threadIdx.x; i < kWeightEscapes; i += blockDim.x) {
      const uint32_t bin = owners_[i];
      if (bin != kNoOwner && totals.Has(bin)) sums_.FlushSum(i, bin, window_.origin, totals);
    }
  }

 private:
  static constexpr uint32_t kNoOwner = ~uint32_t{0};

  const WeightWindow window_;
  uint32_t* const owners_;
  WeightWords sums_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_ESCAPES_CUH_
