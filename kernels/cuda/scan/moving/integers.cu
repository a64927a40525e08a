#include "kernels/cuda/scan/moving/kernels.cuh"

namespace gridfold::kernels::cuda {

template MovingKernels FindMovingKernels<int8_t>(ElementType);
template MovingKernels FindMovingKernels<int16_t>(ElementType);
template MovingKernels FindMovingKernels<int32_t>(ElementType);
template MovingKernels FindMovingKernels<int64_t>(ElementType);
template MovingKernels FindMovingKernels<uint8_t>(ElementType);
template MovingKernels FindMovingKernels<uint16_t>(ElementType);
template MovingKernels FindMovingKernels<uint32_t>(ElementType);
template MovingKernels FindMovingKernels<uint64_t>(ElementType);

}  // namespace gridfold::kernels::cuda
