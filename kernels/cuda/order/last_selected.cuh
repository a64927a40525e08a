// What is known of the last selected element of a large group, once its key was found.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_LAST_SELECTED_CUH_
#define GRIDFOLD_KERNELS_CUDA_ORDER_LAST_SELECTED_CUH_

#include <cstdint>

#include "kernels/cuda/order/arguments.h"
#include "kernels/cuda/order/narrow.h"

namespace gridfold::kernels::cuda {

template <class T>
struct LastSelected {
  OrderKey<T> key;
  uint64_t taken;  // Equal elements that are selected, of `equal`.
  uint64_t equal;
  uint64_t larger;  // Elements that come before all of them.
  bool is_kept;     // Whether all of these are among the kept ones, and few enough are equal.

  __device__ explicit LastSelected(const CollectArguments& arguments) {
    const WantedKey& wanted = arguments.state->wanted[0];
    key = static_cast<OrderKey<T>>(wanted.key);
    equal = wanted.equal;
    taken = wanted.equal - wanted.left;
    larger = arguments.selected - taken;
    is_kept = arguments.state->is_narrowed != 0 && wanted.is_known == 0 && equal <= kKeptTiesMax &&
              !IsIgnoredKey<T>(key, arguments.kind.ignores_nan);
  }
  // Which of the equal ones are taken depends on their indices.
  __device__ bool has_ties() const { return taken < equal; }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_LAST_SELECTED_CUH_
