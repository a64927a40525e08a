// The kernel for extremes of rows of a few elements, as host code sees it. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_BRIEF_EXTREMES_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_BRIEF_EXTREMES_H_

#include <cstdint>

#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

struct BriefExtremeTuning {
  static constexpr uint64_t kElementsMax = ExtremeTuning::kBriefElementsMax;  // Of a row.
  // That a warp takes together. More than of other groups: the fewer bytes a turn has, the more of
  // its instructions only find out where it is.
  static constexpr uint64_t kTurnRowsMax = 1024;
};

// Reduces equal groups of up to kElementsMax elements where nothing but extremes is asked for,
// work.turn_groups in a turn of a warp; blocks and turns as those of ReduceRowExtremes.
using BriefExtremesKernel = void (*)(ReductionParameters, TileWork);
template <class T>
BriefExtremesKernel GetBriefExtremesKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_BRIEF_EXTREMES_H_
