#include "kernels/cuda/scan_exact_kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<Float16>();

}  // namespace gridfold::kernels::cuda
