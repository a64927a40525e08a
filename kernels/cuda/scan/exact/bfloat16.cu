#include "kernels/cuda/scan/exact/kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<Bfloat16>();

}  // namespace gridfold::kernels::cuda
