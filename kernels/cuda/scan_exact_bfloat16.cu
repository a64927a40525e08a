#include "kernels/cuda/scan_exact_kernels.cuh"

namespace gridfold::kernels::cuda {

template ExactScanKernels FindExactScanKernels<Bfloat16>();

}  // namespace gridfold::kernels::cuda
