// The kernel of LaunchLargestMagnitude, for scan.cc and its own file only.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_MAGNITUDE_KERNEL_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_MAGNITUDE_KERNEL_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

// A grid-stride kernel. `bits`, which are 0 before, become those of the largest finite magnitude.
using LargestMagnitudeKernel = void (*)(const double* elements, uint64_t count, uint64_t* bits);
LargestMagnitudeKernel FindLargestMagnitudeKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_MAGNITUDE_KERNEL_H_
