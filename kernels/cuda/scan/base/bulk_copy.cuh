// One thread begins these copies between device memory and shared memory for many bytes at a time.
// (PTX ISA, "cp.async.bulk".) They see shared memory past the threads' own accesses, so those come
// before them only behind FenceSharedMemory(), by the threads that made them. Addresses and sizes
// are multiples of 16 bytes. Compute capability 9.0; code for older devices has none.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_BULK_COPY_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_BULK_COPY_CUH_

#include <cuda_awbarrier_primitives.h>

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"

namespace gridfold::kernels::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
inline constexpr bool kCopiesInBulk = true;

__device__ inline void FenceSharedMemory() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The barrier's present phase lasts until the bytes have come; the thread has yet to arrive.
__device__ inline void BeginBulkLoad(void* shared, const void* memory, uint32_t bytes,
                                     __mbarrier_t* barrier) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
               :
               : "r"(SharedAddress(barrier)), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(SharedAddress(shared)), "l"(__cvta_generic_to_global(memory)), "r"(bytes),
        "r"(SharedAddress(barrier))
      : "memory");
}

__device__ inline void BeginBulkStore(void* memory, const void* shared, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(__cvta_generic_to_global(memory)), "r"(SharedAddress(shared)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until the thread's stores have read shared memory.
__device__ inline void AwaitBulkStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
#else
inline constexpr bool kCopiesInBulk = false;
__device__ inline void FenceSharedMemory() {}
__device__ inline void BeginBulkLoad(void*, const void*, uint32_t, __mbarrier_t*) {}
__device__ inline void BeginBulkStore(void*, const void*, uint32_t) {}
__device__ inline void AwaitBulkStoresRead() {}
#endif

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_BULK_COPY_CUH_
