#include "kernels/cuda/scan_columns.cuh"

namespace gridfold::kernels::cuda {

template ColumnScanKernels FindColumnScanKernels<ScanOperation::kMaxOfNumbers>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
