#include "kernels/cuda/scan/positions/look_back.cuh"

namespace gridfold::kernels::cuda {

template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kProduct>(ElementType, bool);
template LookBackScanKernel FindLookBackScanKernel<ScanOperation::kScaledProduct>(ElementType,
                                                                                  bool);

}  // namespace gridfold::kernels::cuda
