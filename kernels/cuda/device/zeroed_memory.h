// Device memory that is zero when a job begins, so that no job waits for the clearing of counters,
// tickets and marks: a launch takes as long as a kernel of a small one. Move-only; not thread-safe.
//
//   uint64_t* counters = AllocateZeroed<uint64_t>(scratch, count, stream);  // Launchers.
//   ...
//   zeroed.Restore(failed, stream);  // Their caller, behind the kernels: nobody waits for it.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_ZEROED_MEMORY_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_ZEROED_MEMORY_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

// What a kernel makes of memory that it is given as zeros.
enum class AfterUse : uint8_t {
  kAnything,
  kZeroAgain,  // Unless it fails.
};

class ZeroedMemory {
 public:
  // Memory of the current device, zero when this returns. Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<ZeroedMemory> Create(uint64_t size_bytes) {
    absl::StatusOr<DeviceBuffer> buffer = DeviceBuffer::Allocate(size_bytes);
    if (!buffer.ok()) return buffer.status();
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemset(buffer->data(), 0, size_bytes));
    // Other streams do not wait for the stream that clears it.
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(nullptr));
    return ZeroedMemory(*std::move(buffer));
  }

  // None.
  ZeroedMemory() = default;

  // Zeros, aligned to kScratchAlignmentBytes; null where there is no room for them.
  std::byte* Take(uint64_t size_bytes, AfterUse after_use) {
    if (size_bytes > buffer_.size_bytes() - used_bytes_ ||
        ScratchBytes(size_bytes) > buffer_.size_bytes() - used_bytes_) {
      return nullptr;
    }
    std::byte* const memory = buffer_.data() + used_bytes_;
    used_bytes_ += ScratchBytes(size_bytes);
    if (after_use == AfterUse::kAnything) dirty_bytes_ = used_bytes_;
    return memory;
  }

  // Enqueues that all is zero again, behind the kernels on `stream`, which has been the stream of
  // all that used it; of kZeroAgain only where some kernel `failed`. On an error nothing is taken
  // from here until a later call succeeds. Errors: INTERNAL from CUDA.
  absl::Status Restore(bool failed, cudaStream_t stream) {
    const uint64_t bytes = failed ? used_bytes_ : dirty_bytes_;
    used_bytes_ = dirty_bytes_ = buffer_.size_bytes();
    if (bytes > 0) {
      GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(buffer_.data(), 0, bytes, stream));
    }
    used_bytes_ = dirty_bytes_ = 0;
    return absl::OkStatus();
  }

 private:
  explicit ZeroedMemory(DeviceBuffer buffer) : buffer_(std::move(buffer)) {}

  DeviceBuffer buffer_;
  uint64_t used_bytes_ = 0;
  uint64_t dirty_bytes_ = 0;  // Up to the end of the last that may be anything.
};

// Zeros: of the scratch's ZeroedMemory or, where that has no room, scratch that is cleared on
// `stream`. Errors: RESOURCE_EXHAUSTED.
template <class T>
absl::StatusOr<T*> AllocateZeroed(Scratch& scratch, uint64_t count, cudaStream_t stream,
                                  AfterUse after_use = AfterUse::kAnything) {
  const uint64_t bytes = count * sizeof(T);
  if (scratch.zeroed() != nullptr) {
    std::byte* const memory = scratch.zeroed()->Take(bytes, after_use);
    if (memory != nullptr) return reinterpret_cast<T*>(memory);
  }
  const absl::StatusOr<T*> memory = scratch.Allocate<T>(count);
  if (!memory.ok() || bytes == 0) return memory;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(*memory, 0, bytes, stream));
  return memory;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_ZEROED_MEMORY_H_
