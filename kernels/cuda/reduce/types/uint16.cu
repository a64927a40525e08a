#include "kernels/cuda/reduce/types/kernels.cuh"

namespace gridfold::kernels::cuda {

template ReductionKernels ReductionKernelsFor<uint16_t>(uint32_t parts);

}  // namespace gridfold::kernels::cuda
