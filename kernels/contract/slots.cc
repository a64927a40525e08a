#include "kernels/contract/slots.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace gridfold::kernels {

namespace {

// Asks for huge pages where they lie in the memory whole; the system may have none.
void AdviseHugePages([[maybe_unused]] uint64_t* data, [[maybe_unused]] uint64_t size_bytes) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kHugePageBytes = uintptr_t{2} << 20;
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const uintptr_t end = (address + size_bytes) / kHugePageBytes * kHugePageBytes;
  if (begin >= end) return;  // Speed only: advice.
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace

std::vector<uint64_t> EmptySlots(uint64_t count) {
  std::vector<uint64_t> slots;
  slots.reserve(count);
  AdviseHugePages(slots.data(), count * sizeof(uint64_t));
  slots.resize(count);
  return slots;
}

}  // namespace gridfold::kernels
