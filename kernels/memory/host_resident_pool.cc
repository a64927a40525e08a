#include "kernels/memory/host_resident_pool.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>
#include <mutex>
#include <new>

#include "absl/strings/str_cat.h"

namespace gridfold::kernels {

namespace {

// Large memory begins at a huge page, so that the system can map it by few of them: threads that
// read or write it at its full speed miss their tables of pages often otherwise.
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

std::align_val_t AlignmentOf(uint64_t size_bytes) {
  return std::align_val_t{size_bytes < kHugePageBytes ? kResidentUnitBytes : kHugePageBytes};
}

// Null where the host has no memory.
std::byte* AllocateBytes(uint64_t size_bytes) {
  if (size_bytes > PTRDIFF_MAX) return nullptr;  // Rounded up to its alignment it could be little.
  void* const data = ::operator new(size_bytes, AlignmentOf(size_bytes), std::nothrow);
#ifdef MADV_HUGEPAGE
  // Whole huge pages only: the system would fill a last one beyond the memory's end. It may have
  // none, which does no harm.
  const uint64_t huge_bytes = size_bytes / kHugePageBytes * kHugePageBytes;
  if (data != nullptr && huge_bytes > 0) (void)madvise(data, huge_bytes, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(data);
}

void FreeBytes(std::byte* data, uint64_t size_bytes) {
  ::operator delete(data, AlignmentOf(size_bytes));
}

class HostResidentPool final : public ResidentPool {
 public:
  explicit HostResidentPool(uint64_t size_bytes) : free_bytes_(size_bytes) {}

  absl::StatusOr<std::unique_ptr<ResidentMemory>> Allocate(uint64_t size_bytes) override {
    if (!Take(size_bytes)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there is no room for ", size_bytes, " more resident bytes"));
    }
    std::byte* const data = size_bytes == 0 ? nullptr : AllocateBytes(size_bytes);
    ResidentMemory* const memory = size_bytes > 0 && data == nullptr
                                       ? nullptr
                                       : new (std::nothrow)
                                             HostResidentMemory(*this, data, size_bytes);
    if (memory == nullptr) {
      FreeBytes(data, size_bytes);
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
      FreeBytes(span().data, span().size_bytes);
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
