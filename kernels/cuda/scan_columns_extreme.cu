#include "kernels/cuda/scan_columns.cuh"

namespace gridfold::kernels::cuda {

template ColumnScanKernels FindColumnScanKernels<ScanOperation::kMax>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
