// This kernel makes several statistics of short groups of float64, in pairs (pair_strips.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_TILES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_TILES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/pair_strips.cuh"
#include "kernels/cuda/reduce/groups/tiles.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

template <class T>
__global__ void __launch_bounds__(PairTileTuning::kThreads, PairTileTuning::kResidentBlocks)
    ReducePairTiles(const __grid_constant__ ReductionParameters parameters,
                    const __grid_constant__ TileWork work) {
  constexpr uint32_t kWarps = PairTileTuning::kThreads / ReduceTuning::kWarpThreads;
  __shared__ PairRoom<T> room_of_warps[kWarps];
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  PairRoom<T>& room = room_of_warps[warp.meta_group_rank()];
  const uint32_t rank = warp.thread_rank();
  const bool asks_places = AsksForPlaces(parameters);
  const uint64_t warp_index =
      static_cast<uint64_t>(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank();
  const uint64_t step =
      static_cast<uint64_t>(gridDim.x) * warp.meta_group_size() * work.strip_groups;
#pragma unroll 1
  for (uint64_t first = warp_index * work.strip_groups; first < parameters.group_count;
       first += step) {
    const GroupStrip strip(parameters, work, first);
    const bool exists = rank < strip.groups;
    const uint64_t size = exists ? RangeOf(parameters, first + rank).size : 0;
    const bool is_long = size > work.group_elements_max;
    if (is_long) QueueSegment(work, first + rank, size);
    const uint32_t places = warp.ballot(exists && !is_long);
    ReduceStripInPairs<T>(warp, parameters, work, strip, places, asks_places, room);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_TILES_CUH_
