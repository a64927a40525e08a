// The states that parts of an array left of the same groups become one: a thread takes a run of
// parts of a group.
//
// Example: 5 parts in runs of 2. Three threads merge parts 0 and 1, 2 and 3, and 4; of these three
// states, where the first of each run was, the next launch makes the group's.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(kStateMergeThreads)
    MergeStates(const __grid_constant__ ReductionParameters parameters,
                const __grid_constant__ StateMergeWork work) {
  using State = ReductionState<T, kParts>;
  const uint64_t runs = work.runs();
  for (uint64_t i = uint64_t{blockIdx.x} * kStateMergeThreads + threadIdx.x;
       i < work.outer * runs * work.inner; i += uint64_t{gridDim.x} * kStateMergeThreads) {
    const uint64_t inner = i % work.inner;
    const uint64_t first = i / work.inner % runs * work.run_parts;
    const uint64_t outer = i / work.inner / runs;
    const uint64_t end = min(first + work.run_parts, work.parts);
    char* const states =
        static_cast<char*>(work.states) + outer * work.outer_bytes + inner * sizeof(State);
    State state;
#pragma unroll 1
    for (uint64_t part = first; part < end; ++part) {
      State of_part = *reinterpret_cast<const State*>(states + part * work.part_bytes);
      if constexpr ((kParts & kExtremesPart) != 0) {
        of_part.template Part<kExtremesPart>().ShiftIndices(work.first_index +
                                                            part * work.part_size);
      }
      state.Merge(of_part);
    }
    if (work.is_last) {
      const uint64_t group = work.first_group + outer * work.inner + inner;
      FinishGroup<T, kParts>(parameters, group, parameters.group_size, state);
    } else {
      *reinterpret_cast<State*>(states + first * work.part_bytes) = state;
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_
