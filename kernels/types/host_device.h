// GRIDFOLD_HD marks functions that both engines call: compiled for the host by any C++20 compiler,
// and for host and device by nvcc.
#ifndef GRIDFOLD_KERNELS_TYPES_HOST_DEVICE_H_
#define GRIDFOLD_KERNELS_TYPES_HOST_DEVICE_H_

#ifdef __CUDACC__
#define GRIDFOLD_HD __host__ __device__
#else
#define GRIDFOLD_HD
#endif

// GRIDFOLD_HD_APART marks functions for both engines that are long and seldom called: their callers
// stay short.
#ifdef __CUDACC__
#define GRIDFOLD_HD_APART __host__ __device__ __noinline__
#else
#define GRIDFOLD_HD_APART
#endif

// Before a loop that a device runs once, in one thread: its instructions come from memory, so short
// code is fast code.
#ifdef __CUDA_ARCH__
#define GRIDFOLD_ROLLED _Pragma("unroll 1")
#else
#define GRIDFOLD_ROLLED
#endif

#endif  // GRIDFOLD_KERNELS_TYPES_HOST_DEVICE_H_
