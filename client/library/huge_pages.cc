#include "client/library/huge_pages.h"

#include <sys/mman.h>

#include <cstddef>
#include <span>

namespace gridfold::client {
namespace {

// The size of a huge page of x86-64, and of AArch64 with small pages of 4 KiB.
constexpr uintptr_t kHugePageBytes = uintptr_t{2} << 20;

// Asks for huge pages where `memory` has not been touched yet, in those that lie in it whole.
void AdviseHugePages(std::span<std::byte> memory) {
  constexpr uintptr_t kMask = ~(kHugePageBytes - 1);
  const auto first = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t begin = (first + kHugePageBytes - 1) & kMask;  // Speed only: advice.
  const uintptr_t end = (first + memory.size()) & kMask;         // Speed only: advice.
  if (begin >= end) return;                                      // Speed only: no page is whole.
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // Speed only: advice.
}

}  // namespace

void ReserveLarge(uint64_t size_bytes, std::string& data) {
  data.reserve(size_bytes);
  AdviseHugePages({reinterpret_cast<std::byte*>(data.data()), data.capacity()});
}

}  // namespace gridfold::client
