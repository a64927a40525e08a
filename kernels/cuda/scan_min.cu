#include "kernels/cuda/scan_columns.cuh"
#include "kernels/cuda/scan_look_back.cuh"

namespace gridfold::kernels::cuda {

template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kMin>(ElementType, bool);
template ColumnScanKernels FindColumnScanKernels<ScanOperation::kMin>(ElementType);

}  // namespace gridfold::kernels::cuda
