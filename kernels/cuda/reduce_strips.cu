#include "kernels/cuda/reduce_strip_sums.cuh"

namespace gridfold::kernels::cuda {

template <class T>
StripSumsKernel GetStripSumsKernel() {
  return ReduceStripSums<T>;
}
template StripSumsKernel GetStripSumsKernel<float>();
template StripSumsKernel GetStripSumsKernel<Float16>();
template StripSumsKernel GetStripSumsKernel<Bfloat16>();

}  // namespace gridfold::kernels::cuda
