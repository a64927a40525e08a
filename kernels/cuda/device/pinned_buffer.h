// Page-locked host memory, which the device copies from and to at full speed, and its owner.
// Move-only; not thread-safe. Allocation is slow: when a lane is created, never while one runs.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_PINNED_BUFFER_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_PINNED_BUFFER_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "kernels/cuda/device/resource_counter.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

class PinnedBuffer {
 public:
  // Content unspecified; no memory for 0 bytes. Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<PinnedBuffer> Allocate(uint64_t size_bytes) {
    void* data = nullptr;
    if (size_bytes > 0) {
      GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaHostAlloc(&data, size_bytes, cudaHostAllocPortable));
      g_pinned_memory.Take(size_bytes);
    }
    return PinnedBuffer(static_cast<std::byte*>(data), size_bytes);
  }

  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  ~PinnedBuffer() {
    if (data_ == nullptr) return;
    cudaFreeHost(data_);
    g_pinned_memory.Return(size_bytes_);
  }

  std::byte* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  PinnedBuffer(std::byte* data, uint64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  std::byte* data_ = nullptr;
  uint64_t size_bytes_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_PINNED_BUFFER_H_
