#include "kernels/cuda/scan/columns/columns.cuh"

namespace gridfold::kernels::cuda {

template ColumnScanKernels FindColumnScanKernels<ScanOperation::kProduct>(ElementType, bool);
template ColumnScanKernels FindColumnScanKernels<ScanOperation::kScaledProduct>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
