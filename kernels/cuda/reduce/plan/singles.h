// The kernel for rows of one element, as host code sees it. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_SINGLES_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_SINGLES_H_

#include <cstdint>

#include "kernels/cuda/reduce/plan/kernels.h"

namespace gridfold::kernels::cuda {

struct SingleTuning {
  static constexpr uint32_t kThreads = 256;
  static constexpr uint64_t kBlocksPerMultiprocessor = 64;
};

// Answers statistics of rows of one element each, a thread a row. Requires that nothing but
// SingleStatistics() is asked for, no states, and no degrees of freedom that are taken from the
// element where there is a variance.
using SinglesKernel = void (*)(ReductionParameters);
template <class T>
SinglesKernel GetSinglesKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_SINGLES_H_
