#include "server/allocator.h"

#include <chrono>

#ifdef GRIDFOLD_MIMALLOC
#include <mimalloc.h>
#endif

namespace gridfold::server {

#ifdef GRIDFOLD_MIMALLOC
// Longer than from a call to the next one of a caller who asks one thing after the other.
constexpr std::chrono::milliseconds kFreedMemoryIsKept{1000};
#endif

void KeepFreedMemory() {
#ifdef GRIDFOLD_MIMALLOC
#if MI_MALLOC_VERSION < 210
  constexpr mi_option_t kDelay = mi_option_decommit_delay;
#else
  constexpr mi_option_t kDelay = mi_option_purge_delay;
#endif
  mi_option_set(kDelay, kFreedMemoryIsKept.count());
#endif
}

}  // namespace gridfold::server
