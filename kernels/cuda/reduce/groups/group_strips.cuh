// A warp takes strips of short groups, of which several statistics are asked for.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_GROUP_STRIPS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_GROUP_STRIPS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/plan/kernels.h"

namespace gridfold::kernels::cuda {

// Groups that follow one another, which a warp takes together.
struct GroupStrip {
  uint64_t first;
  uint32_t groups;  // As many as the warp has lanes at most, for which masks have a bit each.

  __device__ GroupStrip(const ReductionParameters& parameters, const TileWork& work, uint64_t first)
      : first(first),
        groups(static_cast<uint32_t>(
            min(uint64_t{work.strip_groups}, parameters.group_count - first))) {}
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_GROUP_STRIPS_CUH_
