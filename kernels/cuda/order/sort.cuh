// Selected elements in order.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_SORT_CUH_
#define GRIDFOLD_KERNELS_CUDA_ORDER_SORT_CUH_

#include <cstdint>

#include "kernels/cuda/order/team.cuh"

namespace gridfold::kernels::cuda {

// Sorts `room` entries, a power of two, by all threads of a team: larger keys first, and of equal
// ones the lower index. A bitonic network.
template <class Team>
__device__ void SortSelected(uint64_t* keys, uint64_t* indices, uint32_t room) {
  for (uint32_t width = 2; width <= room; width *= 2) {
    for (uint32_t apart = width / 2; apart > 0; apart /= 2) {
      Team::Sync();
      for (uint32_t i = RankInTeam<Team>(); i < room / 2; i += Team::kThreads) {
        const uint32_t a = 2 * i - (i & (apart - 1));
        const uint32_t b = a + apart;
        const bool ascends = (a & width) != 0;
        const bool is_before = keys[a] != keys[b] ? keys[a] > keys[b] : indices[a] < indices[b];
        if (is_before == ascends) {
          const uint64_t key = keys[a];
          const uint64_t index = indices[a];
          keys[a] = keys[b];
          indices[a] = indices[b];
          keys[b] = key;
          indices[b] = index;
        }
      }
    }
  }
  Team::Sync();
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_SORT_CUH_
