#include "kernels/cuda/scan/columns/columns.cuh"

namespace gridfold::kernels::cuda {

template ColumnScanKernels FindColumnScanKernels<ScanOperation::kMax>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
