// Device memory and its owner. Move-only; not thread-safe.
//
// Allocation waits for the device, so it happens when a lane is created and never while one runs.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_BUFFER_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_BUFFER_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "kernels/cuda/device/resource_counter.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

class DeviceBuffer {
 public:
  // Memory of the current device, aligned to 256 bytes, content unspecified; none for 0 bytes.
  // Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<DeviceBuffer> Allocate(uint64_t size_bytes) {
    void* data = nullptr;
    if (size_bytes > 0) {
      GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMalloc(&data, size_bytes));
      g_device_memory.Take(size_bytes);
    }
    return DeviceBuffer(static_cast<std::byte*>(data), size_bytes);
  }

  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_ == nullptr) return;
    cudaFree(data_);
    g_device_memory.Return(size_bytes_);
  }

  std::byte* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  DeviceBuffer(std::byte* data, uint64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  std::byte* data_ = nullptr;
  uint64_t size_bytes_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_BUFFER_H_
