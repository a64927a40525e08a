#include "kernels/cuda/scan/exact/kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<float>();

}  // namespace gridfold::kernels::cuda
