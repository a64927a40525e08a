#include "kernels/cuda/scan/exact/kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<double>();

}  // namespace gridfold::kernels::cuda
