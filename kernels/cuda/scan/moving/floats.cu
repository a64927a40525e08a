#include "kernels/cuda/scan/moving/kernels.cuh"

namespace gridfold::kernels::cuda {

template MovingKernels FindMovingKernels<Float16>(ElementType);
template MovingKernels FindMovingKernels<Bfloat16>(ElementType);
template MovingKernels FindMovingKernels<float>(ElementType);
template MovingKernels FindMovingKernels<double>(ElementType);

}  // namespace gridfold::kernels::cuda
