#include "kernels/cuda/scan/columns/columns.cuh"

namespace gridfold::kernels::cuda {

template ColumnScanKernels FindColumnScanKernels<ScanOperation::kSum>(ElementType, bool);
template ColumnScanKernels FindColumnScanKernels<ScanOperation::kUnboundedSum>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
