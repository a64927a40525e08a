// Stores that bypass the caches, for results larger than the caches: a plain store to memory that
// is not cached reads it first.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_STREAMING_STORE_H_
#define GRIDFOLD_KERNELS_CPU_BASE_STREAMING_STORE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/base/vector.h"

namespace gridfold::kernels::cpu {

// The alignment of what is stored past the caches.
inline constexpr size_t kStreamAlignment = kVectorBytes;

// Smaller results may still be in the caches when they are needed.
inline constexpr uint64_t kStreamedBytesMin = uint64_t{32} << 20;

// With kStream past the caches: other threads see what is stored only after FinishStreaming. Lines
// of the caches whose vectors are stored one right after the other go to memory as a whole.
template <bool kStream, class V>
inline void StoreVector(V v, void* target) {
#ifdef __SSE2__
  if constexpr (kStream) {
    _mm_stream_si128(static_cast<__m128i*>(target), reinterpret_cast<__m128i>(v));
    return;
  }
#endif
  std::memcpy(target, &v, sizeof(v));
}

// Orders this thread's stores before its later ones.
inline void FinishStreaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_STREAMING_STORE_H_
