// Lanes look up which element an extreme is, of which is known in what turn of a warp it stands.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PLACES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PLACES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// The elements of a group, in turns of warps that follow one another as their elements do.
template <class T>
struct TurnsOfGroup {
  const T* elements;
  uint64_t count;
  uint32_t turn_elements;  // 1 where places are known already.
  bool ignore_nan;

  // The extreme and where it stands, from the first element of its turn: so of equal extremes that
  // of the first turn counts, and there the first element that is as extreme. An element that was
  // in no turn is found at its place. Called by all lanes of a warp, all of which get the result.
  template <class S, bool kIsMax>
  __device__ ExtremeState<S, kIsMax> Locate(const Warp& warp,
                                            const ExtremeState<S, kIsMax>& extreme) const {
    constexpr uint32_t kTogether = 16;  // Loads under way.
    if (extreme.index == kNoIndex || turn_elements == 1) return extreme;
    const T* const first = elements + extreme.index;
    const uint64_t left = count - extreme.index;
    const uint32_t last = (left < turn_elements ? static_cast<uint32_t>(left) : turn_elements) - 1;
    uint32_t found = ~uint32_t{0};
#pragma unroll 1
    for (uint32_t begin = 0; begin <= last && found == ~uint32_t{0}; begin += kTogether * 32) {
      T loaded[kTogether];
#pragma unroll
      for (uint32_t k = 0; k < kTogether; ++k) {
        loaded[k] = first[min(begin + k * 32 + warp.thread_rank(), last)];
      }
#pragma unroll
      for (uint32_t k = 0; k < kTogether; ++k) {
        if (IsAsExtreme(ToCompute(loaded[k]), extreme)) {
          found = min(found, min(begin + k * 32 + warp.thread_rank(), last));
        }
      }
      found = __reduce_min_sync(~0u, found);
    }
    return {ToCompute(first[found]), extreme.index + found};
  }

 private:
  template <class S, bool kIsMax>
  __device__ bool IsAsExtreme(S x, const ExtremeState<S, kIsMax>& extreme) const {
    return !ExtremeState<S, kIsMax>::IsBefore(extreme.value, x) && !(ignore_nan && IsNan(x));
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PLACES_CUH_
