#include "kernels/cuda/scan/positions/totals.cuh"

namespace gridfold::kernels::cuda {

template ScanTotalsKernels FindScanTotalsKernels<ScanOperation::kSum>(ElementType, bool);
template ScanTotalsKernels FindScanTotalsKernels<ScanOperation::kProduct>(ElementType, bool);
template ScanTotalsKernels FindScanTotalsKernels<ScanOperation::kMax>(ElementType, bool);
template ScanTotalsKernels FindScanTotalsKernels<ScanOperation::kMaxOfNumbers>(ElementType, bool);

}  // namespace gridfold::kernels::cuda
