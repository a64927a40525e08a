#include "kernels/cuda/scan/exact/kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<Float16>();

}  // namespace gridfold::kernels::cuda
