// The definition of ReductionKernelsFor; each reduce_<type>.cu instantiates it for its type.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_KERNELS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_KERNELS_CUH_

#include "kernels/cuda/reduce_blocks.cuh"
#include "kernels/cuda/reduce_column_sums.cuh"
#include "kernels/cuda/reduce_columns.cuh"
#include "kernels/cuda/reduce_double_columns.cuh"
#include "kernels/cuda/reduce_group_sums.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_moment_column_tiles.cuh"
#include "kernels/cuda/reduce_row_sums.cuh"
#include "kernels/cuda/reduce_tiles.cuh"
#include "kernels/cuda/reduce_whole_columns.cuh"
#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

template <class T>
ReductionKernels ReductionKernelsFor(uint32_t parts) {
  return VisitPartSet<T>(parts, [](auto set) {
    constexpr uint32_t kParts = decltype(set)::value;
    ReductionKernels kernels = {};
    kernels.blocks = ReduceBlocks<T, kParts>;
    if constexpr (SumsInPairs<T>(kParts)) {
      kernels.group_sums = ReduceGroupSums<T>;
      kernels.strip_sums = GetStripSumsKernel<T>();
      kernels.vector_sums = ReduceVectorSums<T>;
      kernels.row_sums = ReduceRowSums<T>;
      kernels.block_sums = ReduceBlockSums<T>;
      kernels.column_sums = ReduceColumnSums<T>;
      kernels.shallow_column_sums = ReduceShallowColumnSums<T>;
      kernels.whole_column_sums = ReduceWholeColumnSums<T>;
    } else {
      kernels.tiles = ReduceTiles<T, kParts>;
      kernels.columns = ReduceColumns<T, kParts>;
      if constexpr (HasDoubleColumns<T>(kParts)) {
        kernels.first_columns = ReduceDoubleColumns<T>;
        kernels.whole_first_columns = ReduceWholeDoubleColumns<T>;
      }
      if constexpr (HasMomentColumns<T>(kParts)) {
        kernels.first_columns = ReduceMomentColumns<T>;
        kernels.whole_first_columns = ReduceWholeMomentColumns<T>;
      }
    }
    return kernels;
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_KERNELS_CUH_
