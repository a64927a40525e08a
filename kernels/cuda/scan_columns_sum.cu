#include "kernels/cuda/scan_columns.cuh"

namespace gridfold::kernels::cuda {

template ColumnScanKernels FindColumnScanKernels<ScanOperation::kSum>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
