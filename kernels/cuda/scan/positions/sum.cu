#include "kernels/cuda/scan/positions/look_back.cuh"

namespace gridfold::kernels::cuda {

template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kSum>(ElementType, bool);
template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kUnboundedSum>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
