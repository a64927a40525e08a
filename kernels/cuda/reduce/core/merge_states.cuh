// The states that parts of an array left of the same groups become one: a lane takes a run of parts
// of a group, and a warp neighbouring groups, whose states it brings to shared memory together.
//
// Example: 5 parts in runs of 2. Three lanes merge parts 0 and 1, 2 and 3, and 4; of these three
// states, where the first of each run was, the next launch makes the group's.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Copies words that neighbouring states are. By all lanes of a warp.
__device__ inline void CopyStateWords(const Warp& warp, const void* from, uint64_t size_bytes,
                                      void* to) {
  const uint32_t words = static_cast<uint32_t>(size_bytes / sizeof(uint64_t));
  __syncwarp();
#pragma unroll 4
  for (uint32_t i = warp.thread_rank(); i < words; i += ReduceTuning::kWarpThreads) {
    static_cast<uint64_t*>(to)[i] = static_cast<const uint64_t*>(from)[i];
  }
  __syncwarp();
}

template <class T, uint32_t kParts>
__global__ void __launch_bounds__(kStateMergeThreads)
    MergeStates(const __grid_constant__ ReductionParameters parameters,
                const __grid_constant__ StateMergeWork work) {
  using State = ReductionState<T, kParts>;
  static_assert(sizeof(State) % sizeof(uint64_t) == 0);
  constexpr uint32_t kLanes = StateMergeLanes(sizeof(State));
  constexpr uint32_t kWarps = kStateMergeThreads / ReduceTuning::kWarpThreads;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  State* const brought = reinterpret_cast<State*>(BlockWords()) + warp.meta_group_rank() * kLanes;
  const uint32_t lane = warp.thread_rank();
  const uint64_t strips = (work.inner + kLanes - 1) / kLanes;
  const uint64_t runs = work.runs();
  for (uint64_t i = uint64_t{blockIdx.x} * kWarps + warp.meta_group_rank();
       i < work.outer * runs * strips; i += uint64_t{gridDim.x} * kWarps) {
    const uint64_t first_inner = i % strips * kLanes;
    const uint64_t run = i / strips % runs;
    const uint64_t outer = i / strips / runs;
    const uint64_t first = run * work.run_parts;
    const uint64_t end = min(first + work.run_parts, work.parts);
    const uint64_t size_bytes = min(work.inner - first_inner, uint64_t{kLanes}) * sizeof(State);
    const bool has_group = lane * sizeof(State) < size_bytes;
    char* const states =
        static_cast<char*>(work.states) + outer * work.outer_bytes + first_inner * sizeof(State);
    State state;
#pragma unroll 1
    for (uint64_t part = first; part < end; ++part) {
      CopyStateWords(warp, states + part * work.part_bytes, size_bytes, brought);
      if (!has_group) continue;
      State of_part = brought[lane];
      if constexpr ((kParts & kExtremesPart) != 0) {
        of_part.template Part<kExtremesPart>().ShiftIndices(work.first_index +
                                                            part * work.part_size);
      }
      state.Merge(of_part);
    }
    if (work.is_last) {
      const uint64_t group = work.first_group + outer * work.inner + first_inner + lane;
      if (has_group) FinishGroup<T, kParts>(parameters, group, parameters.group_size, state);
    } else {
      __syncwarp();
      if (has_group) brought[lane] = state;
      CopyStateWords(warp, brought, size_bytes, states + first * work.part_bytes);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_STATES_CUH_
