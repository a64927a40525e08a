#include "kernels/cuda/scan_exact_kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<double>();

}  // namespace gridfold::kernels::cuda
