// A thread keeps the moments of floating-point elements while it reads as words in shared memory,
// and for all but sums of floats alone a window in registers.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MOMENTS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/double_moments.cuh"
#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/single_moments.cuh"

namespace gridfold::kernels::cuda {

template <class T, uint32_t kParts, bool kHasWindow>
struct MomentAccumulatorOf {
  using Type = SingleMoments<T, kParts>;
};
template <class T, uint32_t kParts>
struct MomentAccumulatorOf<T, kParts, false> {
  using Type = SingleSums<T>;
};
template <uint32_t kParts>
struct MomentAccumulatorOf<double, kParts, true> {
  using Type = DoubleMoments<kParts>;
};

// The moments among kParts of elements of type T.
template <class T, uint32_t kParts>
using MomentAccumulator =
    typename MomentAccumulatorOf<T, kParts, kHasMomentWindow<T, kParts>>::Type;

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MOMENTS_CUH_
