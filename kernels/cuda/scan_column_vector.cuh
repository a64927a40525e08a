// Neighbouring columns' values that are read or written by one access.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_VECTOR_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_VECTOR_CUH_

namespace gridfold::kernels::cuda {

template <class V, int kCount>
struct alignas(sizeof(V) * kCount) ColumnVector {
  V items[kCount];
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_VECTOR_CUH_
