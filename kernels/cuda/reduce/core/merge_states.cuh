// The states that parts of an array left of the same groups become one, a thread for each group.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// A group's state of a part, with the indices of the whole.
template <class T, uint32_t kParts>
__device__ inline ReductionState<T, kParts> StateOfPart(const void* states, uint64_t i,
                                                        uint64_t first_index) {
  ReductionState<T, kParts> state = static_cast<const ReductionState<T, kParts>*>(states)[i];
  if constexpr ((kParts & kExtremesPart) != 0) {
    state.template Part<kExtremesPart>().ShiftIndices(first_index);
  }
  return state;
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(kStateMergeThreads)
    MergeStates(const __grid_constant__ ReductionParameters parameters,
                const __grid_constant__ StateMergeWork work) {
  const uint64_t step = uint64_t{gridDim.x} * kStateMergeThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kStateMergeThreads + threadIdx.x; i < work.count;
       i += step) {
    auto state = StateOfPart<T, kParts>(work.states, i, work.first_index);
    if (work.others != nullptr) {
      state.Merge(StateOfPart<T, kParts>(work.others, i, work.others_first_index));
    }
    if (work.is_last) {
      FinishGroup<T, kParts>(parameters, work.first_group + i, parameters.group_size, state);
    } else {
      static_cast<ReductionState<T, kParts>*>(work.states)[i] = state;
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_
