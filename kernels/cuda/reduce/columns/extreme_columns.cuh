// A lane keeps the extremes of its columns where nothing but extremes is asked for (kernels.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_EXTREME_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_EXTREME_COLUMNS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/columns/extremes.cuh"
#include "kernels/cuda/reduce/columns/float_extremes.cuh"
#include "kernels/cuda/reduce/columns/vectors.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

template <class T>
class ExtremeColumns {
 public:
  using Element = T;
  using Partial = ReductionState<T, kExtremesPart>;
  static constexpr uint32_t kRows = ColumnVectorTuning::kRowsInFlight;

  __device__ explicit ExtremeColumns(const ReductionParameters& parameters)
      : ignore_nan_(parameters.rules.ignore_nan) {}

  __device__ void Add(const ColumnVector<T> (&rows)[kRows], uint32_t position, uint32_t count) {
    extremes_.Add(rows, position, count);
  }

  template <class RowOf>
  __device__ Partial PartialOf(uint32_t k, RowOf row_of) const {
    Partial partial;
    auto& part = partial.template Part<kExtremesPart>();
    if constexpr (FloatingElement<T>) {
      extremes_.AddTo(k, ignore_nan_, row_of, part);
    } else {
      extremes_.AddTo(k, row_of, part);
    }
    return partial;
  }

  __device__ static void Finish(const ReductionParameters& parameters, uint64_t column,
                                const Partial& partial) {
    FinishGroup(parameters, column, parameters.group_size, partial);
  }

 private:
  bool ignore_nan_;
  ColumnExtremes<T> extremes_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_EXTREME_COLUMNS_CUH_
