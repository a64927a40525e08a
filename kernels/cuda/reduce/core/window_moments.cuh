// Accumulators of moments that have a window (windows.cuh) have this in common.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WINDOW_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WINDOW_MOMENTS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// The base of such an accumulator. Elements go to the window where it takes them, if need be after
// it has moved, and else straight to the words. Window has `additions`, the elements that were
// added to it since its sums were brought into the words.
template <class T, uint32_t kParts, class Window>
class WindowMoments {
 public:
  using S = ComputeType<T>;
  using Words = MomentWords<T, kParts>;
  static constexpr uint32_t kVectorElements = kVectorSize<T>;

  __device__ explicit WindowMoments(WordColumn words) : words_(words) { Reset(); }

  __device__ void Reset() {
    Words::ForEach([&](auto kind, uint32_t first, auto) { kind.Reset(words_.From(first)); });
    flags_ = {};
    window_ = {};
  }

 protected:
  template <uint32_t kCount, uint32_t kSize, class F>
  __device__ static void ForEachValue(const S (&values)[kCount][kSize], F f) {
#pragma unroll
    for (uint32_t i = 0; i < kCount * kSize; ++i) f(values[i / kSize][i % kSize]);
  }

  // Squares and magnitudes are no negative zeros.
  __device__ void NoteUnsigned() {
    flags_.squares |= kSawOtherThanNegativeZero;
    flags_.magnitudes |= kSawOtherThanNegativeZero;
  }

  // `count` elements were added to the window. Returns whether its sums are to be brought into the
  // words before it takes more.
  __device__ bool CountAdditions(uint32_t count) {
    window_.additions += count;
    return window_.additions > kWindowAdditions - ReduceTuning::kGroupElementsMax;
  }

  WordColumn words_;
  MomentFlags flags_;
  Window window_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WINDOW_MOMENTS_CUH_
