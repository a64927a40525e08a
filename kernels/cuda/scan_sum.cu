#include "kernels/cuda/scan_columns.cuh"
#include "kernels/cuda/scan_look_back.cuh"

namespace gridfold::kernels::cuda {

template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kSum>(ElementType, bool);
template ColumnScanKernels FindColumnScanKernels<ScanOperation::kSum>(ElementType);

}  // namespace gridfold::kernels::cuda
