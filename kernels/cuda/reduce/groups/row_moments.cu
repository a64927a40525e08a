#include "kernels/cuda/reduce/groups/row_moments.cuh"

namespace gridfold::kernels::cuda {

template <class U>
auto GetRowMomentsKernel() -> void (*)(RowMomentWork) {
  return ReduceRowMoments<U>;
}
template auto GetRowMomentsKernel<uint8_t>() -> void (*)(RowMomentWork);
template auto GetRowMomentsKernel<uint16_t>() -> void (*)(RowMomentWork);
template auto GetRowMomentsKernel<uint32_t>() -> void (*)(RowMomentWork);
template auto GetRowMomentsKernel<uint64_t>() -> void (*)(RowMomentWork);

}  // namespace gridfold::kernels::cuda
