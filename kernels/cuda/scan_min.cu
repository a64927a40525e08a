#include "kernels/cuda/scan_look_back.cuh"

namespace gridfold::kernels::cuda {

template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kMin>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
