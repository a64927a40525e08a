// The definition of ReductionKernelsFor; each reduce_<type>.cu instantiates it for its type.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_KERNELS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_KERNELS_CUH_

#include "kernels/cuda/reduce_blocks.cuh"
#include "kernels/cuda/reduce_columns.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_tiles.cuh"
#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

template <class T>
ReductionKernels ReductionKernelsFor(uint32_t parts) {
  return VisitPartSet<T>(parts, [](auto set) {
    constexpr uint32_t kParts = decltype(set)::value;
    return ReductionKernels{ReduceTiles<T, kParts>, ReduceBlocks<T, kParts>,
                            ReduceColumns<T, kParts>};
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_KERNELS_CUH_
