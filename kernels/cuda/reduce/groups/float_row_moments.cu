#include "kernels/cuda/reduce/groups/float_row_moments.cuh"

namespace gridfold::kernels::cuda {

template <class T>
FloatRowKernels GetFloatRowKernels() {
  return {ReduceFloatRowMoments<T, false>, ReduceFloatRowMoments<T, true>, ReduceLeftRows<T>};
}
template FloatRowKernels GetFloatRowKernels<Float16>();
template FloatRowKernels GetFloatRowKernels<Bfloat16>();
template FloatRowKernels GetFloatRowKernels<float>();
template FloatRowKernels GetFloatRowKernels<double>();

}  // namespace gridfold::kernels::cuda
