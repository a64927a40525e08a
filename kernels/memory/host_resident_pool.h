// A pool of resident memory in host memory: for the CPU engine, and for tests.
#ifndef GRIDFOLD_KERNELS_MEMORY_HOST_RESIDENT_POOL_H_
#define GRIDFOLD_KERNELS_MEMORY_HOST_RESIDENT_POOL_H_

#include <cstdint>
#include <memory>
#include <variant>

#include "kernels/contract/resident_memory.h"

namespace gridfold::kernels {

// Takes memory from the system as it is asked for, up to `size_bytes`, and gives it back to it.
// Memory of 2 MiB and more lies on huge pages where the system has them for the asking.
std::unique_ptr<ResidentPool> CreateHostResidentPool(uint64_t size_bytes);

// Calls visit(HostSpan) for one piece of `input` after the other, where resident memory is that of
// such a pool.
template <class Visit>
void ForEachHostSpan(const InputSpan& input, Visit visit) {
  if (const auto* const slices = std::get_if<HostSlices>(&input)) {
    for (const HostSpan& slice : slices->slices) visit(slice);
  } else if (const auto* const resident = std::get_if<ResidentSpan>(&input)) {
    visit(HostSpan{resident->data, resident->size_bytes});
  } else {
    visit(std::get<HostSpan>(input));
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_MEMORY_HOST_RESIDENT_POOL_H_
