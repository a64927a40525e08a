#include "kernels/cuda/reduce/types/kernels.cuh"

namespace gridfold::kernels::cuda {

template ReductionKernels ReductionKernelsFor<Bfloat16>(uint32_t parts);

}  // namespace gridfold::kernels::cuda
