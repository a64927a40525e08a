// For tests of what follows when a call of CUDA fails: makes the call that the test says fail
// instead of running it. Only in builds with GRIDFOLD_FAULT_INJECTION, which are not for users.
//
// Counts the calls that are made through GRIDFOLD_RETURN_IF_CUDA_ERROR and GRIDFOLD_CUDA_CALL, in
// all threads together. Thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_FAULT_INJECTION_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_FAULT_INJECTION_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gridfold::kernels::cuda {

// From now on counts from 0; the call with this number fails with `error`, once.
void ArmFault(uint64_t call, cudaError_t error);

// The same, but instead of the call std::bad_alloc is thrown, as host code between calls may do.
void ArmException(uint64_t call);

// Calls since one of these.
uint64_t CountedCalls();

// Of the call that is about to be made: cudaSuccess where it is to be made. Throws where it is
// armed to.
cudaError_t TakeFault();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_FAULT_INJECTION_H_
