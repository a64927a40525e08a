// Fault injection, for tests of what follows when a call of CUDA fails, makes the call that the
// test says fail instead of running it. Only in builds with GRIDFOLD_FAULT_INJECTION, which are not
// for users.
//
// Counts the calls that are made through GRIDFOLD_RETURN_IF_CUDA_ERROR and GRIDFOLD_CUDA_CALL, in
// all threads together. Thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_FAULT_INJECTION_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_FAULT_INJECTION_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gridfold::kernels::cuda {

// Arms a fault: calls count from 0 from now on, and the call with this number fails with `error`,
// once.
void ArmFault(uint64_t call, cudaError_t error);

// Arms an exception: instead of the call with this number std::bad_alloc is thrown, once, as host
// code between calls may do.
void ArmException(uint64_t call);

// Calls since one of these.
uint64_t CountedCalls();

// The error with which the call that is about to be made is to fail; cudaSuccess where it is to be
// made. Throws where an exception is armed.
cudaError_t TakeFault();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_FAULT_INJECTION_H_
