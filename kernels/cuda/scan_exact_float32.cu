#include "kernels/cuda/scan_exact_kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<float>();

}  // namespace gridfold::kernels::cuda
