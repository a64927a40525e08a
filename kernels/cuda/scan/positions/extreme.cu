#include "kernels/cuda/scan/positions/look_back.cuh"

namespace gridfold::kernels::cuda {

template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kMax>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
