#include "kernels/cuda/reduce/groups/strip_sums.cuh"

namespace gridfold::kernels::cuda {

template <class T>
StripKernel GetStripSumsKernel() {
  return ReduceStripSums<T>;
}
template StripKernel GetStripSumsKernel<float>();
template StripKernel GetStripSumsKernel<Float16>();
template StripKernel GetStripSumsKernel<Bfloat16>();

}  // namespace gridfold::kernels::cuda
