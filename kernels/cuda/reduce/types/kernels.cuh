// The definition of ReductionKernelsFor; each <type>.cu instantiates it for its type.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_TYPES_KERNELS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_TYPES_KERNELS_CUH_

#include "kernels/cuda/reduce/columns/columns.cuh"
#include "kernels/cuda/reduce/columns/double_columns.cuh"
#include "kernels/cuda/reduce/columns/extreme_columns.cuh"
#include "kernels/cuda/reduce/columns/integer_columns.cuh"
#include "kernels/cuda/reduce/columns/kernels.cuh"
#include "kernels/cuda/reduce/columns/moment_tiles.cuh"
#include "kernels/cuda/reduce/columns/sums.cuh"
#include "kernels/cuda/reduce/columns/whole_columns.cuh"
#include "kernels/cuda/reduce/core/merge_states.cuh"
#include "kernels/cuda/reduce/groups/fixed_point_tiles.cuh"
#include "kernels/cuda/reduce/groups/integer_strips.cuh"
#include "kernels/cuda/reduce/groups/pair_tiles.cuh"
#include "kernels/cuda/reduce/groups/row_extremes.cuh"
#include "kernels/cuda/reduce/groups/row_sums.cuh"
#include "kernels/cuda/reduce/groups/sums.cuh"
#include "kernels/cuda/reduce/groups/tiles.cuh"
#include "kernels/cuda/reduce/long/blocks.cuh"
#include "kernels/cuda/reduce/plan/kernel_choice.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Groups by lanes of a warp.
template <class T, uint32_t kParts>
void SetGroupKernels(ReductionKernels& kernels) {
  constexpr GroupKernel kKernel = GroupKernelOf<T>(kParts);
  if constexpr (kKernel == GroupKernel::kPairs) {
    kernels.group_sums = ReduceGroupSums<T>;
    kernels.row_sums = ReduceRowSums<T>;
  } else if constexpr (kKernel == GroupKernel::kIntegerStrips) {
    kernels.strips = ReduceIntegerStrips<T, kParts>;
  } else if constexpr (kKernel == GroupKernel::kExtremes) {
    kernels.tiles = ReduceRowExtremes<T>;
  } else if constexpr (kKernel == GroupKernel::kFixedPoint) {
    kernels.tiles = ReduceFixedPointTiles<T>;
  } else if constexpr (kKernel == GroupKernel::kMomentPairs) {
    kernels.tiles = ReducePairTiles<T>;
  } else {
    kernels.tiles = ReduceTiles<T, kParts>;
  }
  if constexpr (SumsInPairs<T>(kParts)) {
    kernels.strips = GetStripSumsKernel<T>();
    kernels.vector_sums = ReduceVectorSums<T, kVectorSize<T>>;
    kernels.half_vector_sums = ReduceVectorSums<T, kVectorSize<T> / 2>;
    kernels.block_sums = ReduceBlockSums<T>;
  }
}

template <class T, uint32_t kParts>
void SetColumnKernels(ReductionKernels& kernels) {
  constexpr ColumnKernel kKernel = ColumnKernelOf<T>(kParts);
  if constexpr (kKernel == ColumnKernel::kPairs) {
    kernels.column_items = ReduceColumnSums<T>;
    kernels.shallow_column_sums = ReduceShallowColumnSums<T>;
    kernels.whole_columns = ReduceWholeColumnSums<T>;
  } else if constexpr (kParts == kExtremesPart) {
    kernels.column_items = ReduceColumnItems<ExtremeColumns<T>>;
    kernels.whole_columns = ReduceWholeColumns<ExtremeColumns<T>>;
  } else if constexpr (kKernel == ColumnKernel::kVectors) {
    kernels.column_items = ReduceColumnItems<IntegerColumns<T, kParts>>;
    kernels.whole_columns = ReduceWholeColumns<IntegerColumns<T, kParts>>;
  } else {
    kernels.columns = ReduceColumns<T, kParts>;
  }
  if constexpr (kKernel == ColumnKernel::kDoublesFirst) {
    kernels.first_columns = ReduceDoubleColumns<T>;
    kernels.whole_first_columns = ReduceWholeDoubleColumns<T, false>;
    kernels.whole_first_column_sums = ReduceWholeDoubleColumns<T, true>;
  }
  if constexpr (kKernel == ColumnKernel::kMomentsFirst && sizeof(T) == sizeof(double)) {
    kernels.first_columns = ReduceColumnItems<DoubleMomentColumns>;
    kernels.whole_first_columns = ReduceWholeColumns<DoubleMomentColumns>;
  } else if constexpr (kKernel == ColumnKernel::kMomentsFirst) {
    kernels.first_columns = ReduceMomentColumns<T>;
    kernels.whole_first_columns = ReduceWholeMomentColumns<T>;
  }
}

template <class T>
ReductionKernels ReductionKernelsFor(uint32_t parts) {
  return VisitPartSet<T>(parts, [](auto set) {
    constexpr uint32_t kParts = decltype(set)::value;
    ReductionKernels kernels = {};
    kernels.blocks = ReduceBlocks<T, kParts>;
    kernels.merge_states = MergeStates<T, kParts>;
    SetGroupKernels<T, kParts>(kernels);
    SetColumnKernels<T, kParts>(kernels);
    return kernels;
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_TYPES_KERNELS_CUH_
