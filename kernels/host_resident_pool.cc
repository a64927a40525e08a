#include "kernels/host_resident_pool.h"

#include <mutex>
#include <new>

#include "absl/strings/str_cat.h"

namespace gridfold::kernels {

namespace {

constexpr std::align_val_t kAlignment{kResidentUnitBytes};

class HostResidentPool final : public ResidentPool {
 public:
  explicit HostResidentPool(uint64_t size_bytes) : free_bytes_(size_bytes) {}

  absl::StatusOr<std::unique_ptr<ResidentMemory>> Allocate(uint64_t size_bytes) override {
    if (!Take(size_bytes)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there is no room for ", size_bytes, " more resident bytes"));
    }
    void* const data =
        size_bytes == 0 ? nullptr : ::operator new(size_bytes, kAlignment, std::nothrow);
    ResidentMemory* const memory = size_bytes > 0 && data == nullptr
                                       ? nullptr
                                       : new (std::nothrow) HostResidentMemory(
                                             *this, static_cast<std::byte*>(data), size_bytes);
    if (memory == nullptr) {
      ::operator delete(data, kAlignment);
      GiveBack(size_bytes);
      return absl::ResourceExhaustedError(
          absl::StrCat("the host has no memory for ", size_bytes, " resident bytes"));
    }
    return std::unique_ptr<ResidentMemory>(memory);
  }

 private:
  class HostResidentMemory final : public ResidentMemory {
   public:
    HostResidentMemory(HostResidentPool& pool, std::byte* data, uint64_t size_bytes)
        : ResidentMemory(data, size_bytes), pool_(pool) {}
    ~HostResidentMemory() override {
      ::operator delete(span().data, kAlignment);
      pool_.GiveBack(span().size_bytes);
    }

   private:
    HostResidentPool& pool_;
  };

  bool Take(uint64_t size_bytes) {
    const std::lock_guard lock(mutex_);
    if (size_bytes > free_bytes_ || ResidentBytesTaken(size_bytes) > free_bytes_) return false;
    free_bytes_ -= ResidentBytesTaken(size_bytes);
    return true;
  }

  void GiveBack(uint64_t size_bytes) {
    const std::lock_guard lock(mutex_);
    free_bytes_ += ResidentBytesTaken(size_bytes);
  }

  std::mutex mutex_;
  uint64_t free_bytes_;
};

}  // namespace

std::unique_ptr<ResidentPool> CreateHostResidentPool(uint64_t size_bytes) {
  return std::make_unique<HostResidentPool>(size_bytes);
}

}  // namespace gridfold::kernels
