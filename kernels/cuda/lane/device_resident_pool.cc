#include "kernels/cuda/lane/device_resident_pool.h"

#include <cuda_runtime_api.h>

#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/status.h"
#include "kernels/memory/block_allocator.h"

namespace gridfold::kernels::cuda {

namespace {

class DeviceResidentPool final : public ResidentPool {
 public:
  DeviceResidentPool(int device, DeviceBuffer memory)
      : device_(device),
        memory_(std::move(memory)),
        blocks_(memory_.size_bytes(), kResidentUnitBytes) {}
  // Freed from whichever thread, as a lane's memory is.
  ~DeviceResidentPool() override { cudaSetDevice(device_); }

  absl::StatusOr<std::unique_ptr<ResidentMemory>> Allocate(uint64_t size_bytes) override {
    if (size_bytes == 0) return std::make_unique<ResidentMemory>(nullptr, 0);
    const std::lock_guard lock(mutex_);
    const std::optional<uint64_t> offset = blocks_.Allocate(size_bytes);
    if (!offset) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there is no room for ", size_bytes, " more resident bytes in one piece; ",
                       blocks_.free_bytes(), " are free, of which ", blocks_.largest_free_bytes(),
                       " are the largest piece"));
    }
    auto* const memory = new (std::nothrow) DeviceResidentMemory(*this, *offset, size_bytes);
    if (memory == nullptr) {
      blocks_.Free(*offset);
      return absl::ResourceExhaustedError("the host has no memory to keep account of an array");
    }
    return std::unique_ptr<ResidentMemory>(memory);
  }

 private:
  class DeviceResidentMemory final : public ResidentMemory {
   public:
    DeviceResidentMemory(DeviceResidentPool& pool, uint64_t offset, uint64_t size_bytes)
        : ResidentMemory(pool.memory_.data() + offset, size_bytes), pool_(pool), offset_(offset) {}
    ~DeviceResidentMemory() override {
      const std::lock_guard lock(pool_.mutex_);
      pool_.blocks_.Free(offset_);
    }

   private:
    DeviceResidentPool& pool_;
    const uint64_t offset_;
  };

  const int device_;
  const DeviceBuffer memory_;
  std::mutex mutex_;
  BlockAllocator blocks_;  // Guarded by mutex_.
};

}  // namespace

absl::StatusOr<std::unique_ptr<ResidentPool>> CreateDeviceResidentPool(int device,
                                                                       uint64_t size_bytes) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaSetDevice(device));
  absl::StatusOr<DeviceBuffer> memory = DeviceBuffer::Allocate(size_bytes);
  if (!memory.ok()) return memory.status();
  return std::make_unique<DeviceResidentPool>(device, *std::move(memory));
}

}  // namespace gridfold::kernels::cuda
