#include "client/library/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "client/library/array_route.h"
#include "client/library/helper_thread.h"

// Of Linux 5.14; older headers have no name for it.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace gridfold::client {
namespace {

// The size of a huge page of x86-64, and of AArch64 with small pages of 4 KiB.
constexpr uintptr_t kHugePageBytes = uintptr_t{2} << 20;

// What a thread brings pages for at least: a few milliseconds of faults. And threads at most: those
// that send, and that read, have work meanwhile.
constexpr uint64_t kPopulatedBytesMin = uint64_t{32} << 20;
constexpr uint64_t kPopulatingThreadsMax = 8;

// The huge pages that lie in `memory` whole. Speed only: what is done with them is advice.
std::span<std::byte> HugePagesOf(std::span<std::byte> memory) {
  constexpr uintptr_t kMask = ~(kHugePageBytes - 1);
  const auto first = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t begin = (first + kHugePageBytes - 1) & kMask;  // Speed only: advice.
  const uintptr_t end = (first + memory.size()) & kMask;         // Speed only: advice.
  if (begin >= end) return {};                                   // Speed only: no page is whole.
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

// Brings pages that have not been touched yet, in several threads: one that touches 4 GB takes
// longer than they take to arrive over several connections.
void Populate(std::span<std::byte> pages) {
  const uint64_t threads = std::min<uint64_t>(
      {pages.size() / kPopulatedBytesMin, kPopulatingThreadsMax, ProcessorCount()});
  if (threads < 2) return;  // Speed only: whoever writes there brings them.
  const uint64_t step = (pages.size() / threads / kHugePageBytes + 1) * kHugePageBytes;
  std::vector<std::thread> populating;
  for (uint64_t begin = 0; begin < pages.size(); begin += step) {
    const std::span<std::byte> part = pages.subspan(begin, std::min(step, pages.size() - begin));
    std::optional<std::thread> thread = TryStartThread([part] {
      (void)madvise(part.data(), part.size(), MADV_POPULATE_WRITE);  // Speed only: advice.
    });
    if (thread) populating.push_back(*std::move(thread));
  }
  for (std::thread& thread : populating) thread.join();
}

std::span<std::byte> Reserve(uint64_t size_bytes, std::string& data) {
  data.reserve(size_bytes);
  const std::span<std::byte> pages =
      HugePagesOf({reinterpret_cast<std::byte*>(data.data()), data.capacity()});
  if (!pages.empty())
    (void)madvise(pages.data(), pages.size(), MADV_HUGEPAGE);  // Speed only: advice.
  return pages;
}

}  // namespace

void ReserveLarge(uint64_t size_bytes, std::string& data) { (void)Reserve(size_bytes, data); }

void ResizeLarge(uint64_t size_bytes, std::string& data) {
  Populate(Reserve(size_bytes, data));
  data.resize(size_bytes);
}

}  // namespace gridfold::client
