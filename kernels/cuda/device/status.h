// CUDA errors become absl::Status here.
//
// Out of memory becomes RESOURCE_EXHAUSTED, every other error INTERNAL; the message holds the call,
// CUDA's words for the error, and the file and line of the call. Thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_STATUS_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_STATUS_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#ifdef GRIDFOLD_FAULT_INJECTION
#include "kernels/cuda/device/fault_injection.h"
#endif

namespace gridfold::kernels::cuda {

// OK for cudaSuccess. Clears the thread's last error, so that one that the device survives is not
// reported again by the next call.
absl::Status CudaStatus(cudaError_t error, const char* call, const char* file, int line);

// Whether `status` comes from an error after which the device cannot be used by this process: any
// but those of a single call's arguments, launch configuration or memory.
bool IsDeviceLost(const absl::Status& status);

}  // namespace gridfold::kernels::cuda

// The error of a CUDA runtime call, or the one that a test has put in its place.
#ifdef GRIDFOLD_FAULT_INJECTION
#define GRIDFOLD_CUDA_CALL(call)                                               \
  ([&] {                                                                       \
    const cudaError_t gridfold_fault = ::gridfold::kernels::cuda::TakeFault(); \
    return gridfold_fault != cudaSuccess ? gridfold_fault : (call);            \
  }())
#else
#define GRIDFOLD_CUDA_CALL(call) (call)
#endif

// Runs a CUDA runtime call; on error returns its status from the enclosing function.
#define GRIDFOLD_RETURN_IF_CUDA_ERROR(call)                                                    \
  do {                                                                                         \
    if (const cudaError_t gridfold_error = GRIDFOLD_CUDA_CALL(call);                           \
        gridfold_error != cudaSuccess) {                                                       \
      return ::gridfold::kernels::cuda::CudaStatus(gridfold_error, #call, __FILE__, __LINE__); \
    }                                                                                          \
  } while (false)

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_STATUS_H_
